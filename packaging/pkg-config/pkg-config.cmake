# leasehold_pkg_config(NAME LIBRARY DESCRIPTION [REQUIRES ...] [STATIC ...])
# NAME.pc for the library leasehold_LIBRARY. REQUIRES are modules that its users link as well,
# STATIC those that they do when it is a static library.
function(leasehold_pkg_config pc_name library pc_description)
    cmake_parse_arguments(PARSE_ARGV 3 pc "" "" "REQUIRES;STATIC")

    # No folder of this machine in it, where that can be: the tree may be moved.
    set(pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
    set(pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
    set(pc_prefix ${CMAKE_INSTALL_PREFIX})
    if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" AND NOT IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
        file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
        string(REGEX REPLACE "/$" "" up "${up}")
        set(pc_prefix "\${pcfiledir}/${up}")
        set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
        set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
    endif()

    set(pc_cflags)
    get_target_property(pc_boost_includedir Boost::headers INTERFACE_INCLUDE_DIRECTORIES)
    if(pc_boost_includedir IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
        set(pc_boost_includedir)
    else()
        set(pc_cflags "-isystem \${boost_includedir}")
    endif()
    set(pc_libs ${CMAKE_THREAD_LIBS_INIT})
    get_target_property(type leasehold_${library} TYPE)
    if(type STREQUAL "SHARED_LIBRARY")
        string(APPEND pc_cflags " -DLEASEHOLD_SHARED")
    else()
        list(APPEND pc_REQUIRES ${pc_STATIC})
    endif()
    list(JOIN pc_REQUIRES ", " pc_requires)
    set(pc_library leasehold_${library})
    configure_file(${PROJECT_SOURCE_DIR}/packaging/pkg-config/leasehold.pc.in
        ${PROJECT_BINARY_DIR}/pkg-config/${pc_name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/pkg-config/${pc_name}.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()
