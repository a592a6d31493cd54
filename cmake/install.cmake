# Installs the library and its headers so that find_package(leasehold) gives leasehold::leasehold.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/leasehold)

install(TARGETS leasehold leasehold_testing EXPORT leasehold-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(EXPORT leasehold-targets NAMESPACE leasehold:: DESTINATION ${package_dir})

# Before 1.0 a minor version may break programs, from then on only a major one.
set(compatibility SameMajorVersion)
set(soversion ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(compatibility SameMinorVersion)
    set(soversion 0.${PROJECT_VERSION_MINOR})
endif()
set_target_properties(leasehold leasehold_testing PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${soversion})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/leasehold-config.cmake.in
    ${PROJECT_BINARY_DIR}/leasehold-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/leasehold-config-version.cmake COMPATIBILITY ${compatibility})
install(FILES ${PROJECT_BINARY_DIR}/leasehold-config.cmake ${PROJECT_BINARY_DIR}/leasehold-config-version.cmake
    DESTINATION ${package_dir})
