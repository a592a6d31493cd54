# leasehold_pkg_config(NAME LIBRARY DESCRIPTION [REQUIRES ...] [STATIC ...] [STATIC_LIBRARY FILE])
# Writes NAME.pc for the library leasehold_LIBRARY. Its users also link the modules of REQUIRES, and
# those of STATIC if it is a static library. STATIC_LIBRARY is a file that they then link, too: a
# library whose module has different names.
function(leasehold_pkg_config pc_name library pc_description)
    cmake_parse_arguments(PARSE_ARGV 3 pc "" "STATIC_LIBRARY" "REQUIRES;STATIC")

    # Relative folders where possible, because the installed tree may be moved.
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

    # No folder of Boost, which has no module, and none of STATIC_LIBRARY: they may be elsewhere on
    # the machine that uses the file.
    set(pc_cflags)
    set(pc_libs ${CMAKE_THREAD_LIBS_INIT})
    get_target_property(type leasehold_${library} TYPE)
    if(type STREQUAL "SHARED_LIBRARY")
        set(pc_cflags " -DLEASEHOLD_SHARED")
    else()
        list(APPEND pc_REQUIRES ${pc_STATIC})
        if(pc_STATIC_LIBRARY)
            cmake_path(GET pc_STATIC_LIBRARY STEM LAST_ONLY linked)
            string(REGEX REPLACE "^lib" "" linked "${linked}")
            list(APPEND pc_libs "-l${linked}")
        endif()
    endif()
    if(library STREQUAL "redis")
        string(APPEND pc_cflags " -DLEASEHOLD_HAS_REDIS")
    endif()
    list(JOIN pc_REQUIRES ", " pc_requires)
    list(TRANSFORM pc_libs PREPEND " ")
    list(JOIN pc_libs "" pc_libs)
    if(library STREQUAL "postgres")
        string(APPEND pc_cflags " -DLEASEHOLD_HAS_POSTGRES")
    elseif(library STREQUAL "mysql")
        string(APPEND pc_cflags " -DLEASEHOLD_HAS_MYSQL")
    endif()
    if(library STREQUAL "zookeeper")
        string(APPEND pc_cflags " -DLEASEHOLD_HAS_ZOOKEEPER")
    endif()
    set(pc_library leasehold_${library})
    configure_file(${PROJECT_SOURCE_DIR}/packaging/pkg-config/leasehold.pc.in
        ${PROJECT_BINARY_DIR}/pkg-config/${pc_name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/pkg-config/${pc_name}.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()
