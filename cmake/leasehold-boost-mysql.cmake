# Finds Boost.MySQL and Boost.Charconv, which it needs. Sets leasehold_boost_mysql_FOUND, and if it
# is true, creates the target leasehold::boost_mysql for the headers. Boost.Charconv is either
# leasehold_boost_charconv_LIBRARY or leasehold_boost_charconv_SOURCES.
#   LEASEHOLD_BOOST_CHARCONV_LIBRARY  the compiled library; without one, its sources are compiled
#                                     if the headers are in a tree of Boost's sources
set(leasehold_boost_mysql_advice "leasehold::mysql needs Boost.MySQL, which was not found beside \
the other headers of Boost, and Boost.Charconv. The packages of Debian and Ubuntu leave \
Boost.MySQL out. Use a Boost from its own release, from vcpkg or from Conan")
set(leasehold_boost_mysql_FOUND FALSE)
set(leasehold_boost_charconv_LIBRARY)
set(leasehold_boost_charconv_SOURCES)
get_target_property(_leasehold_boost_include Boost::headers INTERFACE_INCLUDE_DIRECTORIES)
find_path(LEASEHOLD_BOOST_MYSQL_INCLUDE boost/mysql/any_connection.hpp
    HINTS ${_leasehold_boost_include})
mark_as_advanced(LEASEHOLD_BOOST_MYSQL_INCLUDE)
if(LEASEHOLD_BOOST_MYSQL_INCLUDE)
    find_package(boost_charconv ${Boost_VERSION} EXACT CONFIG QUIET)
    find_library(LEASEHOLD_BOOST_CHARCONV_LIBRARY boost_charconv
        HINTS ${_leasehold_boost_include}/../lib)
    mark_as_advanced(LEASEHOLD_BOOST_CHARCONV_LIBRARY)
    set(_leasehold_charconv "${LEASEHOLD_BOOST_MYSQL_INCLUDE}/libs/charconv/src")
    if(TARGET Boost::charconv)
        set(leasehold_boost_charconv_LIBRARY Boost::charconv)
        set(leasehold_boost_mysql_FOUND TRUE)
    elseif(LEASEHOLD_BOOST_CHARCONV_LIBRARY)
        set(leasehold_boost_charconv_LIBRARY ${LEASEHOLD_BOOST_CHARCONV_LIBRARY})
        set(leasehold_boost_mysql_FOUND TRUE)
    elseif(EXISTS "${_leasehold_charconv}/to_chars.cpp")
        set(leasehold_boost_charconv_SOURCES
            ${_leasehold_charconv}/from_chars.cpp ${_leasehold_charconv}/to_chars.cpp)
        set(leasehold_boost_mysql_FOUND TRUE)
    endif()
endif()
if(leasehold_boost_mysql_FOUND AND NOT TARGET leasehold::boost_mysql)
    add_library(leasehold::boost_mysql INTERFACE IMPORTED)
    set_target_properties(leasehold::boost_mysql PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "${LEASEHOLD_BOOST_MYSQL_INCLUDE}")
endif()
