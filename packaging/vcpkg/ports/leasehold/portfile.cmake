# An overlay port: vcpkg install leasehold --overlay-ports=packaging/vcpkg/ports
# It builds the source tree that contains it. A port in a registry uses vcpkg_from_github instead.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES
    mysql LEASEHOLD_MYSQL
    postgres LEASEHOLD_POSTGRES
    tool LEASEHOLD_TOOL)
vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DLEASEHOLD_TESTS=OFF
        -DLEASEHOLD_TESTING=OFF # vcpkg has no Lua 5.1
        -DLEASEHOLD_EXAMPLES=OFF
        -DLEASEHOLD_WERROR=OFF
        -DLEASEHOLD_INSTALL=ON
        ${features})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/leasehold)
vcpkg_fixup_pkgconfig()
if("tool" IN_LIST FEATURES)
    vcpkg_copy_tools(TOOL_NAMES leasehold AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")

file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
