# build_and_run(PROGRAM MODULE): builds and runs a program with what pkg-config says of what is
# installed in WORK_DIR/prefix.
find_program(pkg_config NAMES pkg-config pkgconf REQUIRED)
file(GLOB_RECURSE modules "${WORK_DIR}/prefix/*/leasehold.pc")
get_filename_component(folder "${modules}" DIRECTORY)
set(ENV{PKG_CONFIG_PATH} "${folder}:$ENV{PKG_CONFIG_PATH}")

function(build_and_run program module)
    execute_process(COMMAND "${pkg_config}" --cflags --libs ${module}
        OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    run("${program} with pkg-config ${module}" "${COMPILER}" -std=c++20
        "${SOURCE_DIR}/test/package/consume/${program}.cpp" -o "${WORK_DIR}/${program}" ${flags}
        "-Wl,-rpath,${folder}/..")
    run("${program}" "${WORK_DIR}/${program}")
endfunction()
