#ifndef LEASEHOLD_SRC_REDIS_CONNECTION_READINESS_CHECK_HPP
#define LEASEHOLD_SRC_REDIS_CONNECTION_READINESS_CHECK_HPP

#include "redis/protocol/reply.hpp"
#include "redis/protocol/script.hpp"

#include <boost/asio/cancellation_signal.hpp>
#include <boost/redis/adapter/any_adapter.hpp>
#include <boost/redis/request.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::redis_store {

/// The first request of a new connection, in one round trip. It checks that the server serves
/// commands, is of the required kind, has all commands that locks need, and permits them to this
/// user. It also reads the server's time and loads the scripts. It waits for the connection, so its
/// reply shows that there is one.
class readiness_check
{
public:
    /// @param needed The scripts that have to run there.
    /// @param in_cluster It may be a node of a cluster.
    /// @param prefix As in `redis_config`.
    explicit readiness_check(const script_set& needed, bool in_cluster = false,
                             std::string_view prefix = {});

    /// Without a prefix, the same for every connection with these scripts.
    const boost::redis::request& request() const;

    /// The check must outlive it.
    boost::redis::any_adapter adapter();

    struct verdict
    {
        error_code code;       ///< None: the check has found no obstacle.
        std::string_view text; ///< By the server, or about it.
    };

    /// `errc::store_refused` if the server does not serve commands now; a `condition::bad_request`
    /// if it never will.
    verdict result() const;
    std::optional<std::int64_t> server_us() const;

    /// The number of expected replies.
    std::size_t commands() const noexcept { return answers_.size(); }

    boost::asio::cancellation_signal cancel;

private:
    // HELLO, the scripts, then these.
    enum place : std::size_t
    {
        check,
        run,
        time,
        count_,
    };
    static constexpr std::size_t others = 1 + count_;

    const reply& answer(place which) const { return answers_[1 + needed_.all.size() + which]; }
    std::string_view mode() const;

    const script_set& needed_;
    const bool in_cluster_;
    std::optional<boost::redis::request> own_; ///< With a prefix.
    std::vector<reply> answers_;
    std::vector<std::string> hello_; ///< Names and values.
    std::size_t answered_ = 0;
};

} // namespace leasehold::redis_store

#endif
