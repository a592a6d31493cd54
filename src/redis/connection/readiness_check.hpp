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

/// The first that a new connection is asked, in one round trip: does it serve commands, is it a
/// server of the kind that is needed, has it all commands that locks need and may this user call
/// them, and what time is it there? It brings the scripts along. It waits for the connection, so
/// that its answer tells that there is one.
class readiness_check
{
public:
    /// @param needed What has to run there.
    /// @param in_cluster It may be a node of a cluster.
    explicit readiness_check(const script_set& needed, bool in_cluster = false)
        : needed_(needed), in_cluster_(in_cluster), answers_(needed.all.size() + others)
    {}

    /// The same for every connection with these scripts.
    const boost::redis::request& request() const;

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

    /// That many answers are expected.
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
    std::vector<reply> answers_;
    std::vector<std::string> hello_; ///< Names and values.
    std::size_t answered_ = 0;
};

} // namespace leasehold::redis_store

#endif
