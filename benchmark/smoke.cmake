# cmake -P: runs the benchmark with tiny numbers and checks its output, not its speed.
#   RUN      benchmark/run
#   PROGRAM  the built program
#   JSON     the file for the figures
#   NAMES    the expected measurements
#   WORDS    further arguments of benchmark/run
file(REMOVE "${JSON}")
execute_process(
    COMMAND "${RUN}" ${WORDS} --quick --program "${PROGRAM}" --json "${JSON}" --html "${JSON}.html"
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "benchmark/run failed (${result}):\n${output}\n${errors}")
endif()

file(READ "${JSON}.html" page)
if(NOT page MATCHES "<!DOCTYPE html>" OR NOT page MATCHES "\"figures\":" OR page MATCHES "%DATA%")
    message(FATAL_ERROR "${JSON}.html is not a page with figures")
endif()
file(READ "${JSON}" text)
string(JSON compiler GET "${text}" machine compiler)
if(compiler STREQUAL "")
    message(FATAL_ERROR "the machine's facts do not name the compiler")
endif()
set(names "")
string(JSON count LENGTH "${text}" measurements)
math(EXPR last "${count} - 1")
foreach(i RANGE ${last})
    string(JSON name GET "${text}" measurements ${i} name)
    list(APPEND names ${name})
    string(JSON figures LENGTH "${text}" measurements ${i} figures)
    if(figures EQUAL 0)
        message(FATAL_ERROR "${name} has no figures")
    endif()
    string(JSON type TYPE "${text}" measurements ${i} figures 0 value)
    if(NOT type STREQUAL "NUMBER")
        message(FATAL_ERROR "the first value of ${name} is not a number but ${type}")
    endif()
    if(NOT output MATCHES "\n${name}: ")
        message(FATAL_ERROR "${name} is not among the tables:\n${output}")
    endif()
endforeach()
if(NOT names STREQUAL NAMES)
    message(FATAL_ERROR "the measurements are not all there: ${names}")
endif()
