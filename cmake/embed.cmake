# leasehold_script(RESULT FILE): the text of a script, with each line "--include PATH" replaced with
# the text of that file. PATH is relative to the folder of the file that includes it.
function(leasehold_script result file)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(READ "${file}" text)
    get_filename_component(folder "${file}" DIRECTORY)
    while(text MATCHES "\n[ \t]*--include ([^\n]+)")
        set(line "${CMAKE_MATCH_0}")
        get_filename_component(part "${folder}/${CMAKE_MATCH_1}" ABSOLUTE)
        leasehold_script(included "${part}")
        string(REPLACE "${line}" "\n${included}" text "${text}")
    endwhile()
    set(${result} "${text}" PARENT_SCOPE)
endfunction()

# leasehold_embed(HEADER FILES...): writes one header, with the script of each file as a constant
# named after it. Removes comments and indentation, because the text is sent to the server.
function(leasehold_embed header)
    set(content "#pragma once\n// Made by CMake from the .lua files.\n")
    string(APPEND content "namespace leasehold::scripts {\n")
    foreach(file IN LISTS ARGN)
        leasehold_script(text "${file}")
        string(REGEX REPLACE "\n[ \t]+" "\n" text "\n${text}")
        string(REGEX REPLACE "\n--[^\n]*" "" text "${text}")
        string(REGEX REPLACE "\n\n+" "\n" text "${text}")
        get_filename_component(name "${file}" NAME_WE)
        string(APPEND content "inline constexpr char ${name}[] = R\"lua(${text})lua\";\n")
    endforeach()
    string(APPEND content "} // namespace leasehold::scripts\n")
    file(CONFIGURE OUTPUT "${header}" CONTENT "${content}" @ONLY)
endfunction()

# leasehold_embed_text(HEADER NAMESPACE NAME FILE): writes a header with the unchanged text of the
# file as the constant NAMESPACE::NAME.
function(leasehold_embed_text header namespace name file)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(READ "${file}" text)
    set(content "#pragma once\n// Made by CMake from a file of the sources.\n")
    string(APPEND content "namespace ${namespace} {\n")
    string(APPEND content "inline constexpr char ${name}[] = R\"text(${text})text\";\n")
    string(APPEND content "} // namespace ${namespace}\n")
    file(CONFIGURE OUTPUT "${header}" CONTENT "${content}" @ONLY)
endfunction()
