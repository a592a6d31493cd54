# cmake -P: what the README shows is what the tests compile and run.
#   README   a Markdown file with a fence directly after each of the lines
#            <!-- sell -->, <!-- sell session --> and <!-- from the shell -->
#   PROGRAM  the file that has the text of the first fence between // [sell] and // [/sell]
#   PRINTED  the file that the text of the second fence must equal, byte for byte
#   SESSION  the same for the third
file(READ "${README}" readme)

# Cuts the first line off; not with lists, to which semicolons and brackets mean something.
macro(take_line text line)
    string(FIND "${${text}}" "\n" newline)
    if(newline EQUAL -1)
        set(${line} "${${text}}<no newline at the end>")
        set(${text} "")
    else()
        string(SUBSTRING "${${text}}" 0 ${newline} ${line})
        math(EXPR newline "${newline} + 1")
        string(SUBSTRING "${${text}}" ${newline} -1 ${text})
    endif()
endmacro()

# compare(MARK LANGUAGE FILE): the fence behind the mark is the file, or its part between // [MARK]
# and // [/MARK].
function(compare mark language file)
    file(READ "${file}" shown)
    set(begin "// [${mark}]\n")
    string(FIND "${shown}" "${begin}" from)
    if(NOT from EQUAL -1)
        string(LENGTH "${begin}" length)
        math(EXPR from "${from} + ${length}")
        string(FIND "${shown}" "// [/${mark}]\n" to)
        if(to LESS from)
            message(FATAL_ERROR "${file}: there is no line `// [/${mark}]` after `// [${mark}]`")
        endif()
        math(EXPR length "${to} - ${from}")
        string(SUBSTRING "${shown}" ${from} ${length} shown)
    endif()
    set(opening "\n<!-- ${mark} -->\n```${language}\n")
    string(FIND "${readme}" "${opening}" at)
    if(at EQUAL -1)
        message(FATAL_ERROR "${README}: there is no line `<!-- ${mark} -->` "
            "with a line \"```${language}\" directly after it")
    endif()
    string(LENGTH "${opening}" length)
    math(EXPR at "${at} + ${length}")
    string(SUBSTRING "${readme}" ${at} -1 fence)
    string(FIND "${fence}" "\n```\n" end)
    if(end EQUAL -1)
        message(FATAL_ERROR "${README}: the fence after `${mark}` is never closed")
    endif()
    math(EXPR end "${end} + 1")
    string(SUBSTRING "${fence}" 0 ${end} fence)
    if(fence STREQUAL shown)
        return()
    endif()
    set(number 0)
    set(ours "")
    set(theirs "")
    while("x${ours}" STREQUAL "x${theirs}")
        math(EXPR number "${number} + 1")
        foreach(side fence shown)
            if("${${side}}" STREQUAL "")
                set(${side} "<end of the text>\n")
            endif()
        endforeach()
        take_line(fence ours)
        take_line(shown theirs)
    endwhile()
    message(FATAL_ERROR
        "what the README shows after `${mark}` differs from ${file} at its line ${number}:\n"
        "  README: ${ours}\n  file:   ${theirs}\n"
        "Make the two equal; the file is the one that is tested.")
endfunction()

compare("sell" cpp "${PROGRAM}")
compare("sell session" console "${PRINTED}")
compare("from the shell" console "${SESSION}")

# Others are the project's own scripts, which .ci/run runs, and what test/package/consume does.
string(REGEX MATCHALL "\n```" fences "${readme}")
list(LENGTH fences count)
if(NOT count EQUAL 10)
    message(FATAL_ERROR "${README}: a fence that nothing here compares with what is tested")
endif()
