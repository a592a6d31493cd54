#ifndef LEASEHOLD_SRC_STORE_REDIS_TRANSPORT_READINESS_CHECK_HPP
#define LEASEHOLD_SRC_STORE_REDIS_TRANSPORT_READINESS_CHECK_HPP

#include "store/redis/protocol/reply.hpp"

#include <boost/asio/cancellation_signal.hpp>
#include <boost/redis/adapter/any_adapter.hpp>
#include <boost/redis/request.hpp>

#include <array>
#include <cstdint>
#include <optional>

namespace leasehold::redis_store {

/// The first that a new connection is asked: does it serve commands, and what time is it there? It
/// brings the scripts along. It waits for the connection, so that its answer tells that there is
/// one.
class readiness_check
{
public:
    readiness_check();

    /// The probe must outlive it.
    boost::redis::any_adapter adapter();

    /// True when the server answered that it does not serve commands now.
    bool refused() const;
    std::optional<std::int64_t> server_us() const;

    boost::redis::request request;
    boost::asio::cancellation_signal cancel;

private:
    std::array<reply, 4> answers_; ///< The last one is the time.
    std::size_t answered_ = 0;
};

} // namespace leasehold::redis_store

#endif
