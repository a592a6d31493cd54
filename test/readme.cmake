# cmake -P: the first program in the README is the one that is compiled as an example.
#   README    a Markdown file with a ```cpp fence directly after the line <!-- first program -->
#   PROGRAM   the file that the fence's text must equal, byte for byte
file(READ "${README}" readme)
file(READ "${PROGRAM}" program)

set(opening "\n<!-- first program -->\n```cpp\n")
string(FIND "${readme}" "${opening}" at)
if(at EQUAL -1)
    message(FATAL_ERROR "${README}: there is no line `<!-- first program -->` "
        "with a line \"```cpp\" directly after it")
endif()
string(LENGTH "${opening}" length)
math(EXPR at "${at} + ${length}")
string(SUBSTRING "${readme}" ${at} -1 fence)
string(FIND "${fence}" "\n```\n" end)
if(end EQUAL -1)
    message(FATAL_ERROR "${README}: the fence of the first program is never closed")
endif()
math(EXPR end "${end} + 1")
string(SUBSTRING "${fence}" 0 ${end} fence)
if(fence STREQUAL program)
    return()
endif()

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

set(number 0)
set(ours "")
set(theirs "")
while("x${ours}" STREQUAL "x${theirs}")
    math(EXPR number "${number} + 1")
    foreach(side fence program)
        if("${${side}}" STREQUAL "")
            set(${side} "<end of the text>\n")
        endif()
    endforeach()
    take_line(fence ours)
    take_line(program theirs)
endwhile()
message(FATAL_ERROR
    "the first program in the README differs from ${PROGRAM} at its line ${number}:\n"
    "  README:  ${ours}\n  program: ${theirs}\n"
    "Make the two equal; the file is the one that is compiled.")
