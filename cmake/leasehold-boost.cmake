# Finds Boost, whose headers the library needs. Sets Boost_FOUND, and leasehold_boost_advice if it
# is false. The installed package also uses this file.
set(leasehold_boost_version 1.91)
find_package(Boost ${leasehold_boost_version} CONFIG QUIET)
if(NOT Boost_FOUND)
    set(_leasehold_boost_script "${CMAKE_CURRENT_LIST_DIR}/boost")
    if(NOT EXISTS "${_leasehold_boost_script}")
        set(_leasehold_boost_script "LEASEHOLD/cmake/boost")
    endif()
    set(_leasehold_boost_seen "CMake found none.")
    if(Boost_CONSIDERED_VERSIONS)
        list(JOIN Boost_CONSIDERED_VERSIONS ", " _leasehold_boost_seen)
        set(_leasehold_boost_seen "CMake found only ${_leasehold_boost_seen}.")
    endif()
    set(leasehold_boost_advice "leasehold needs the headers of Boost ${leasehold_boost_version} or \
newer. ${_leasehold_boost_seen} Set CMAKE_PREFIX_PATH to the folder where a newer Boost is \
installed. On Debian, the script cmake/boost of leasehold's sources fetches the headers and prints \
their folder:\n  cmake ... -DCMAKE_PREFIX_PATH=\"$(${_leasehold_boost_script})\"")
endif()
