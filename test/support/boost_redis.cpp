// The one file that compiles Boost.Redis; it costs more than all others together.
#include <boost/redis/src.hpp>
