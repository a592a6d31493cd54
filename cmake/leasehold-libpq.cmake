# Finds libpq 14 or newer, the client library of PostgreSQL, which has the pipeline mode. Sets
# leasehold_libpq_FOUND, and creates the target leasehold::libpq if it is true. The installed
# package also uses this file.
#   LEASEHOLD_LIBPQ_INCLUDE  the folder of its libpq-fe.h
#   LEASEHOLD_LIBPQ_LIBRARY  the library
set(leasehold_libpq_advice "leasehold::postgres needs libpq 14 or newer, which was not found. \
Install it, on Debian and Ubuntu the package libpq-dev, or set LEASEHOLD_LIBPQ_INCLUDE to the \
folder of its libpq-fe.h and LEASEHOLD_LIBPQ_LIBRARY to its library")
find_path(LEASEHOLD_LIBPQ_INCLUDE libpq-fe.h PATH_SUFFIXES postgresql)
find_library(LEASEHOLD_LIBPQ_LIBRARY NAMES pq libpq)
mark_as_advanced(LEASEHOLD_LIBPQ_INCLUDE LEASEHOLD_LIBPQ_LIBRARY)
set(leasehold_libpq_FOUND FALSE)
if(LEASEHOLD_LIBPQ_LIBRARY AND EXISTS "${LEASEHOLD_LIBPQ_INCLUDE}/libpq-fe.h")
    file(STRINGS "${LEASEHOLD_LIBPQ_INCLUDE}/libpq-fe.h" _leasehold_libpq_pipeline
        REGEX "^#define[ \t]+LIBPQ_HAS_PIPELINING[ \t]+1")
    if(_leasehold_libpq_pipeline)
        set(leasehold_libpq_FOUND TRUE)
    endif()
endif()
if(leasehold_libpq_FOUND AND NOT TARGET leasehold::libpq)
    add_library(leasehold::libpq INTERFACE IMPORTED)
    set_target_properties(leasehold::libpq PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "${LEASEHOLD_LIBPQ_INCLUDE}"
        INTERFACE_LINK_LIBRARIES "${LEASEHOLD_LIBPQ_LIBRARY}")
endif()
