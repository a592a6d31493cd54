# leasehold_embed(OUTPUT HEADER FILES...): one header with each file's text as a constant named
# after the file.
# Comments and indentation stay behind: the text is sent to the server.
function(leasehold_embed header)
    set(content "#pragma once\n// Made by CMake from the .lua files.\n")
    string(APPEND content "namespace leasehold::scripts {\n")
    foreach(file IN LISTS ARGN)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
        file(READ "${file}" text)
        string(REGEX REPLACE "\n[ \t]+" "\n" text "\n${text}")
        string(REGEX REPLACE "\n--[^\n]*" "" text "${text}")
        string(REGEX REPLACE "\n\n+" "\n" text "${text}")
        get_filename_component(name "${file}" NAME_WE)
        string(APPEND content "inline constexpr char ${name}[] = R\"lua(${text})lua\";\n")
    endforeach()
    string(APPEND content "} // namespace leasehold::scripts\n")
    file(CONFIGURE OUTPUT "${header}" CONTENT "${content}" @ONLY)
endfunction()
