# cmake -P: configures, builds and runs a project that uses the library, with the compiler and flags
# of this build.
#   KIND          find_package, missing_boost, pkg_config, add_subdirectory or fetch_content
#   SOURCE_DIR    of leasehold
#   BUILD_DIR     of leasehold; find_package, missing_boost and pkg_config use its installation
#   WORK_DIR      emptied and used
#   COMPILER      for pkg_config, which needs no CMake
#   OPTIONS_FILE  sets `options`: what the consumer is configured with; and for pkg_config
#                 `boost_folder` and `lua_folder`
include("${OPTIONS_FILE}")

function(run what)
    execute_process(COMMAND ${ARGN}
        RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "${what} failed (${result}):\n${output}")
    endif()
    message(STATUS "${what}: ok")
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
file(MAKE_DIRECTORY "${WORK_DIR}")
if(KIND MATCHES "find_package|missing_boost|pkg_config")
    run("install" "${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${WORK_DIR}/prefix"
        --config "${CONFIG}")
    list(APPEND options "-Dleasehold_ROOT=${WORK_DIR}/prefix")
    find_program(tool NAMES leasehold PATHS "${WORK_DIR}/prefix/bin" NO_DEFAULT_PATH)
    if(tool)
        run("the installed tool" "${tool}" --version)
    endif()
elseif(KIND STREQUAL "add_subdirectory")
    # Shared, because this build has the static ones.
    list(APPEND options "-DLEASEHOLD_SOURCE_DIR=${SOURCE_DIR}" -DBUILD_SHARED_LIBS=ON
        -DLEASEHOLD_INSTALL=ON)
else()
    # What a release's archive has: the sources, below one folder.
    run("pack" "${CMAKE_COMMAND}" -E chdir "${SOURCE_DIR}" "${CMAKE_COMMAND}" -E tar cz
        "${WORK_DIR}/leasehold.tar.gz" CMakeLists.txt LICENSE cmake include packaging src tool)
    list(APPEND options "-DLEASEHOLD_ARCHIVE=${WORK_DIR}/leasehold.tar.gz")
endif()
if(KIND STREQUAL "missing_boost")
    include("${CMAKE_CURRENT_LIST_DIR}/missing_boost.cmake")
    file(REMOVE_RECURSE "${WORK_DIR}")
    return()
endif()
if(KIND STREQUAL "pkg_config")
    include("${CMAKE_CURRENT_LIST_DIR}/pkg_config.cmake")
    build_and_run(main leasehold)
    build_and_run(simulated leasehold-testing)
    file(REMOVE_RECURSE "${WORK_DIR}")
    return()
endif()

run("configure" "${CMAKE_COMMAND}" -S "${SOURCE_DIR}/test/package/consume/${KIND}"
    -B "${WORK_DIR}/build" ${options})
if(NOT KIND STREQUAL "fetch_content") # which builds what add_subdirectory does
    run("build" "${CMAKE_COMMAND}" --build "${WORK_DIR}/build" --config "${CONFIG}"
        --target consumer --parallel 2)
    find_program(consumer NAMES consumer PATHS "${WORK_DIR}/build" "${WORK_DIR}/build/${CONFIG}"
        NO_DEFAULT_PATH REQUIRED)
    run("the consumer" "${consumer}")
endif()
if(KIND STREQUAL "add_subdirectory" AND CMAKE_HOST_SYSTEM_NAME STREQUAL "Linux")
    run("install the shared libraries" "${CMAKE_COMMAND}" --install "${WORK_DIR}/build/leasehold"
        --prefix "${WORK_DIR}/prefix" --config "${CONFIG}")
    # By the name that programs ask for, which has the version that they were linked with.
    file(GLOB libraries "${WORK_DIR}/prefix/lib*/libleasehold_*.so.[0-9].[0-9]")
    list(LENGTH libraries count)
    if(count LESS 3) # and the stores in PostgreSQL, if there is libpq, in ZooKeeper and in etcd
        message(FATAL_ERROR "not three shared libraries with a version: ${libraries}")
    endif()
    run("what they export" "${SOURCE_DIR}/test/package/exported_symbols" "${SOURCE_DIR}"
        ${libraries})
    include("${CMAKE_CURRENT_LIST_DIR}/pkg_config.cmake")
    build_and_run(main leasehold)
endif()
file(REMOVE_RECURSE "${WORK_DIR}")
