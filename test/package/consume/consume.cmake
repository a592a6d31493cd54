# cmake -P: configures, builds and runs a project that uses the library, with the compiler and flags
# of this build.
#   KIND          find_package or add_subdirectory
#   SOURCE_DIR    of leasehold
#   BUILD_DIR     of leasehold; what is built there is installed for find_package
#   WORK_DIR      emptied and used
#   OPTIONS_FILE  sets `options`: what the consumer is configured with
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
if(KIND STREQUAL "find_package")
    run("install" "${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${WORK_DIR}/prefix"
        --config "${CONFIG}")
    list(APPEND options "-Dleasehold_ROOT=${WORK_DIR}/prefix")
    find_program(tool NAMES leasehold PATHS "${WORK_DIR}/prefix/bin" NO_DEFAULT_PATH)
    if(tool)
        run("the installed tool" "${tool}" --version)
    endif()
else()
    # Shared, because this build has the static ones.
    list(APPEND options "-DLEASEHOLD_SOURCE_DIR=${SOURCE_DIR}" -DBUILD_SHARED_LIBS=ON)
endif()
run("configure" "${CMAKE_COMMAND}" -S "${SOURCE_DIR}/test/package/consume/${KIND}"
    -B "${WORK_DIR}/build" ${options})
run("build" "${CMAKE_COMMAND}" --build "${WORK_DIR}/build" --config "${CONFIG}" --target consumer
    --parallel 2)

find_program(consumer NAMES consumer PATHS "${WORK_DIR}/build" "${WORK_DIR}/build/${CONFIG}"
    NO_DEFAULT_PATH REQUIRED)
run("the consumer" "${consumer}")
file(REMOVE_RECURSE "${WORK_DIR}")
