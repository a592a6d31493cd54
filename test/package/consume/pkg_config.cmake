# Checks that the modules installed in WORK_DIR/prefix contain no path of this machine.
file(GLOB_RECURSE modules "${WORK_DIR}/prefix/*.pc")
foreach(module IN LISTS modules)
    file(STRINGS "${module}" paths REGEX "(^|[ =]|-[ILl])/")
    if(paths)
        message(FATAL_ERROR "${module} contains a path of this machine: ${paths}")
    endif()
endforeach()

# build_and_run(PROGRAM MODULE): builds and runs a program with the flags of pkg-config, and with
# the folders of Boost and Lua, which the modules leave out.
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
        "-I${boost_folder}" "-L${lua_folder}" "-Wl,-rpath,${folder}/..")
    run("${program}" "${WORK_DIR}/${program}")
endfunction()
