# leasehold_embed(HEADER FILES...): writes one header, with each text as a constant named after its
# file.
# Removes comments and indentation, because the text is sent to the server. A line "--include PATH"
# is replaced with the text of that shared file; PATH is relative to the folder of the including
# file.
function(leasehold_embed header)
    set(content "#pragma once\n// Made by CMake from the .lua files.\n")
    string(APPEND content "namespace leasehold::scripts {\n")
    foreach(file IN LISTS ARGN)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
        file(READ "${file}" text)
        get_filename_component(folder "${file}" DIRECTORY)
        while(text MATCHES "\n[ \t]*--include ([^\n]+)")
            set(line "${CMAKE_MATCH_0}")
            get_filename_component(part "${folder}/${CMAKE_MATCH_1}" ABSOLUTE)
            set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${part}")
            file(READ "${part}" shared)
            string(REPLACE "${line}" "\n${shared}" text "${text}")
        endwhile()
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
