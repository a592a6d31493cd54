#ifndef LEASEHOLD_SRC_REDIS_CONNECTION_BOOST_REDIS_PARTS_HPP
#define LEASEHOLD_SRC_REDIS_CONNECTION_BOOST_REDIS_PARTS_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/error.hpp>

#include <boost/redis/error.hpp>
#include <boost/redis/request.hpp>

#include <string_view>

namespace leasehold::redis_store {

// The compiled part of Boost.Redis is hidden in this library. A `connection` of another library
// needs this much of it.

[[nodiscard]] LEASEHOLD_REDIS_EXPORT error_code make_error(boost::redis::error which);
[[nodiscard]] LEASEHOLD_REDIS_EXPORT boost::redis::request make_ping(std::string_view text);

} // namespace leasehold::redis_store

#endif
