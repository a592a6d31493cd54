# cmake -P: compares this library with the floor, with tiny numbers, and checks the output of the
# driver, not the speed.
#   RUN       benchmark/run
#   PROGRAMS  the folder of the built programs
#   FOLDER    the folder for figures and charts
cmake_minimum_required(VERSION 3.22)
file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")
execute_process(COMMAND "${RUN}" --peers --quick --peer leasehold --peer floor
        --programs "${PROGRAMS}" --json "${FOLDER}/figures.json" --svg "${FOLDER}"
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "benchmark/run --peers failed (${result}):\n${output}\n${errors}")
endif()

file(READ "${FOLDER}/figures.json" text)
string(JSON count LENGTH "${text}" figures)
math(EXPR last "${count} - 1")
set(seen "")
foreach(i RANGE ${last})
    string(JSON job GET "${text}" figures ${i} job)
    string(JSON peer GET "${text}" figures ${i} peer)
    list(APPEND seen "${job} ${peer}")
endforeach()
foreach(job uncontended hot_key handoff waiters held killed)
    foreach(peer leasehold floor)
        if(NOT "${job} ${peer}" IN_LIST seen)
            message(FATAL_ERROR "no figure of ${peer} in ${job}:\n${output}")
        endif()
    endforeach()
    if(NOT EXISTS "${FOLDER}/${job}.svg")
        message(FATAL_ERROR "no chart of ${job}")
    endif()
endforeach()
if(NOT EXISTS "${FOLDER}/overview.svg")
    message(FATAL_ERROR "no chart of them all")
endif()

# --add adds the figures of an earlier run, and rejects any other file.
execute_process(COMMAND "${RUN}" --peers --quick --peer floor --programs "${PROGRAMS}" --job killed
        --add "${FOLDER}/figures.json" --json "${FOLDER}/all.json"
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
file(READ "${FOLDER}/all.json" text)
string(JSON all LENGTH "${text}" figures)
if(NOT result EQUAL 0 OR NOT all LESS count OR NOT output MATCHES "\nuncontended: .*\nkilled: ")
    message(FATAL_ERROR "${all} of ${count} figures (${result}):\n${output}\n${errors}")
endif()
file(WRITE "${FOLDER}/nonsense.json" "[]")
execute_process(COMMAND "${RUN}" --peers --quick --peer floor --programs "${PROGRAMS}" --job killed
        --add "${FOLDER}/nonsense.json"
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(result EQUAL 0 OR NOT errors MATCHES "nonsense.json: is not what --json writes")
    message(FATAL_ERROR "an invalid file was accepted (${result}):\n${output}\n${errors}")
endif()
