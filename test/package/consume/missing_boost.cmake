# Configures a project without a Boost, and with one that is too old. Both ways to use the library,
# the package in WORK_DIR/prefix and the sources, must report what is missing and how to get it.
list(FILTER options EXCLUDE REGEX "^-D(CMAKE_PREFIX_PATH|Boost_DIR)=")
set(old "${WORK_DIR}/old/lib/cmake/Boost-1.74.0")
file(WRITE "${old}/BoostConfig.cmake" "")
file(WRITE "${old}/BoostConfigVersion.cmake" "set(PACKAGE_VERSION 1.74.0)\n")

function(expect_advice where found script)
    file(REMOVE_RECURSE "${WORK_DIR}/build")
    execute_process(COMMAND "${CMAKE_COMMAND}" -S "${SOURCE_DIR}/test/package/consume/missing_boost"
        -B "${WORK_DIR}/build" ${options} ${ARGN}
        RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    string(REGEX REPLACE "[ \n]+" " " text "${output}") # CMake wraps messages
    foreach(part "needs the headers of Boost 1.91 or newer" "${found}" "Set CMAKE_PREFIX_PATH"
            "-DCMAKE_PREFIX_PATH=\"$(${script})\"")
        string(FIND "${text}" "${part}" position)
        if(result EQUAL 0 OR position LESS 0)
            message(FATAL_ERROR "${where}: \"${part}\" is missing in the output:\n${output}")
        endif()
    endforeach()
    message(STATUS "${where}, ${found} ok")
endfunction()

set(installed "-Dleasehold_ROOT=${WORK_DIR}/prefix")
set(sources "-DLEASEHOLD_SOURCE_DIR=${SOURCE_DIR}")
set(too_old "-DCMAKE_PREFIX_PATH=${WORK_DIR}/old")
expect_advice(find_package "CMake found none." LEASEHOLD/cmake/boost ${installed})
expect_advice(find_package "CMake found only 1.74.0." LEASEHOLD/cmake/boost ${installed} ${too_old})
expect_advice(add_subdirectory "CMake found none." "${SOURCE_DIR}/cmake/boost" ${sources})
expect_advice(add_subdirectory "CMake found only 1.74.0." "${SOURCE_DIR}/cmake/boost" ${sources}
    ${too_old})
