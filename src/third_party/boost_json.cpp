// Boost.JSON is compiled here, once. Left out (LEASEHOLD_COMPILE_BOOST_JSON=OFF) where the
// application includes <boost/json/src.hpp> in a file of its own, or links Boost.JSON.

// A shared library does not export the classes that Boost.JSON marks as visible.
#include <boost/config.hpp>
#undef BOOST_SYMBOL_VISIBLE
#define BOOST_SYMBOL_VISIBLE

#include <boost/json/src.hpp>
