// Boost.Redis is compiled here, once. Left out (LEASEHOLD_COMPILE_BOOST_REDIS=OFF) where the
// application includes <boost/redis/src.hpp> in a file of its own: its functions are not inline.
#include <boost/redis/src.hpp>
