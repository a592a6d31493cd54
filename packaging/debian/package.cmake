# cpack in a build tree makes a Debian package with the command, its manual and its completions. It
# does not contain the library, because no Debian release has the Boost that its headers need. The
# command must not need another package of this project.
if(BUILD_SHARED_LIBS)
    return()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME leasehold)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "Leasehold maintainers <maintainers@leasehold.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "locks for scripts, kept in Redis, a database or etcd")
set(CPACK_PACKAGE_DESCRIPTION
"leasehold run holds locks while a command runs. If a lock cannot be renewed, it
ends the command and its children in time. Other commands show the holders of
locks, and check if a server is fit to keep locks. The locks are kept in Redis,
Valkey, PostgreSQL, MySQL, MariaDB, ZooKeeper or etcd.")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};leasehold;tool;/")
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/arrange.cmake)

set(CPACK_DEB_COMPONENT_INSTALL OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
    "redis-server | valkey-server | postgresql | mariadb-server | zookeeperd | etcd-server")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright
    COMPONENT tool)
install(FILES ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR}
    RENAME changelog COMPONENT tool)
include(CPack)
