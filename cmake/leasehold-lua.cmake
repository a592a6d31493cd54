# Finds Lua 5.1, with which the simulator, like Redis, runs scripts. Sets leasehold_lua_FOUND, and
# creates the target leasehold::lua if it is true. The installed package also uses this file.
#   LEASEHOLD_LUA_INCLUDE  the folder of its headers
#   LEASEHOLD_LUA_LIBRARY  the library
set(leasehold_lua_advice "leasehold::testing needs Lua 5.1, which was not found. Install it, on \
Debian and Ubuntu the package liblua5.1-0-dev, or set LEASEHOLD_LUA_INCLUDE to the folder of its \
lua.hpp and LEASEHOLD_LUA_LIBRARY to its library. Other versions of Lua cannot replace it")
find_path(LEASEHOLD_LUA_INCLUDE lua.hpp PATH_SUFFIXES lua5.1 lua51 lua-5.1 lua/5.1)
find_library(LEASEHOLD_LUA_LIBRARY NAMES lua5.1 lua51 lua-5.1 lua.5.1 lua
    PATH_SUFFIXES lua/5.1 lua5.1 lua51)
mark_as_advanced(LEASEHOLD_LUA_INCLUDE LEASEHOLD_LUA_LIBRARY)
set(leasehold_lua_FOUND FALSE)
if(LEASEHOLD_LUA_LIBRARY AND EXISTS "${LEASEHOLD_LUA_INCLUDE}/lua.h")
    file(STRINGS "${LEASEHOLD_LUA_INCLUDE}/lua.h" _leasehold_lua_version
        REGEX "^#define[ \t]+LUA_VERSION_NUM[ \t]+501")
    if(_leasehold_lua_version)
        set(leasehold_lua_FOUND TRUE)
    endif()
endif()
if(leasehold_lua_FOUND AND NOT TARGET leasehold::lua)
    add_library(leasehold::lua INTERFACE IMPORTED)
    set_target_properties(leasehold::lua PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "${LEASEHOLD_LUA_INCLUDE}"
        INTERFACE_LINK_LIBRARIES "${LEASEHOLD_LUA_LIBRARY};$<$<PLATFORM_ID:Linux>:m>")
endif()
