#ifndef LEASEHOLD_SRC_STORE_REDIS_TRANSPORT_READINESS_CHECK_HPP
#define LEASEHOLD_SRC_STORE_REDIS_TRANSPORT_READINESS_CHECK_HPP

#include "store/redis/protocol/reply.hpp"

#include <boost/asio/cancellation_signal.hpp>
#include <boost/redis/adapter/any_adapter.hpp>
#include <boost/redis/request.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::redis_store {

/// The first that a new connection is asked, in one round trip: does it serve commands, is it a
/// server of the kind that is needed, has it all commands that locks need and may this user call
/// them, and what time is it there? It brings the scripts along. It waits for the connection, so
/// that its answer tells that there is one.
class readiness_check
{
public:
    /// The same for every connection.
    static const boost::redis::request& request();

    /// The check must outlive it.
    boost::redis::any_adapter adapter();

    struct verdict
    {
        error_code code;       ///< None: locks can be served, as far as could be found out.
        std::string_view said; ///< By the server, or of it.
    };

    /// `errc::store_refused` when it does not serve commands now; a `condition::bad_request` when
    /// it never will.
    verdict result() const;
    std::optional<std::int64_t> server_us() const;

    static constexpr std::size_t commands = 7; ///< That many answers are expected.

    boost::asio::cancellation_signal cancel;

private:
    enum place : std::size_t
    {
        hello,
        load_acquire,
        load_renew,
        load_release,
        check,
        run,
        time,
    };

    std::string_view mode() const;

    std::array<reply, commands> answers_;
    std::vector<std::string> hello_; ///< Names and values.
    std::size_t answered_ = 0;
};

} // namespace leasehold::redis_store

#endif
