// Boost.JSON is compiled here, once. Left out (LEASEHOLD_COMPILE_BOOST_JSON=OFF) where the
// application includes <boost/json/src.hpp> in a file of its own, or links Boost.JSON.
#include <boost/json/src.hpp>
