# Installs the libraries and their headers, so that find_package(leasehold [COMPONENTS ...]) gives
# leasehold::core, leasehold::redis, leasehold::postgres, leasehold::mysql, leasehold::zookeeper,
# leasehold::etcd, leasehold::testing, and leasehold::leasehold with redis, and pkg-config the same
# as leasehold-core, leasehold, leasehold-postgres, leasehold-mysql, leasehold-zookeeper,
# leasehold-etcd and leasehold-testing. The last five are absent if they were not built.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
include(${PROJECT_SOURCE_DIR}/packaging/pkg-config/pkg-config.cmake)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/leasehold)

# Before 1.0 a minor version may break programs, from then on only a major one.
set(compatibility SameMajorVersion)
set(soversion ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(compatibility SameMinorVersion)
    set(soversion 0.${PROJECT_VERSION_MINOR})
endif()

set(components core redis)
set(testing_needs_lua OFF) # for programs that link it; a shared library contains Lua
if(TARGET leasehold_testing)
    list(APPEND components testing)
    get_target_property(type leasehold_testing TYPE)
    if(NOT type STREQUAL "SHARED_LIBRARY")
        set(testing_needs_lua ON)
    endif()
endif()
set(postgres_needs_libpq OFF) # as for Lua
if(TARGET leasehold_postgres)
    list(APPEND components postgres)
    get_target_property(type leasehold_postgres TYPE)
    if(NOT type STREQUAL "SHARED_LIBRARY")
        set(postgres_needs_libpq ON)
    endif()
endif()
if(TARGET leasehold_zookeeper)
    list(APPEND components zookeeper)
endif()
if(TARGET leasehold_etcd)
    list(APPEND components etcd)
endif()
set(mysql_needs_charconv OFF) # as for Lua
if(TARGET leasehold_mysql)
    list(APPEND components mysql)
    get_target_property(type leasehold_mysql TYPE)
    if(NOT type STREQUAL "SHARED_LIBRARY" AND leasehold_boost_charconv_LIBRARY STREQUAL
            "Boost::charconv")
        set(mysql_needs_charconv ON)
    endif()
endif()

# Each component has its own file of targets, so an unused component needs no dependencies.
foreach(component IN LISTS components)
    set(targets leasehold_${component})
    set_target_properties(${targets} PROPERTIES
        VERSION ${PROJECT_VERSION} SOVERSION ${soversion})
    if(component STREQUAL "redis")
        list(APPEND targets leasehold)
    endif()
    install(TARGETS ${targets} EXPORT leasehold-${component}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
            COMPONENT libraries NAMELINK_COMPONENT development
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT libraries
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    install(EXPORT leasehold-${component} NAMESPACE leasehold:: DESTINATION ${package_dir}
        COMPONENT development)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    COMPONENT development FILES_MATCHING PATTERN "*.hpp")

leasehold_pkg_config(leasehold-core core "Distributed locks for Boost.Asio")
leasehold_pkg_config(leasehold redis "Distributed locks for Boost.Asio, in Redis"
    REQUIRES leasehold-core STATIC openssl)
if(TARGET leasehold_postgres)
    leasehold_pkg_config(leasehold-postgres postgres "Distributed locks in PostgreSQL"
        REQUIRES leasehold-core STATIC libpq)
endif()
if(TARGET leasehold_zookeeper)
    leasehold_pkg_config(leasehold-zookeeper zookeeper "Distributed locks in ZooKeeper"
        REQUIRES leasehold-core STATIC openssl)
endif()
if(TARGET leasehold_etcd)
    leasehold_pkg_config(leasehold-etcd etcd "Distributed locks in etcd"
        REQUIRES leasehold-core STATIC openssl)
endif()
if(TARGET leasehold_mysql)
    leasehold_pkg_config(leasehold-mysql mysql "Distributed locks in MySQL and MariaDB"
        REQUIRES leasehold-core STATIC openssl)
endif()
if(TARGET leasehold_testing)
    leasehold_pkg_config(leasehold-testing testing "A simulator for programs that use leasehold"
        REQUIRES leasehold STATIC_LIBRARY ${LEASEHOLD_LUA_LIBRARY})
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/leasehold-config.cmake.in
    ${PROJECT_BINARY_DIR}/leasehold-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/leasehold-config-version.cmake
    COMPATIBILITY ${compatibility})
install(FILES
    ${CMAKE_CURRENT_LIST_DIR}/leasehold-boost.cmake
    ${CMAKE_CURRENT_LIST_DIR}/leasehold-libpq.cmake
    ${CMAKE_CURRENT_LIST_DIR}/leasehold-lua.cmake
    ${PROJECT_BINARY_DIR}/leasehold-config.cmake
    ${PROJECT_BINARY_DIR}/leasehold-config-version.cmake
    DESTINATION ${package_dir} COMPONENT development)
