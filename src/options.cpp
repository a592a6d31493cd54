#include <leasehold/options.hpp>

#include "base/argument_error.hpp"

#include <algorithm>
#include <string>

namespace leasehold {
namespace {

using std::chrono::milliseconds;

std::string text(milliseconds value)
{
    return value == no_limit ? "no_limit" : std::to_string(value.count()) + " ms";
}

[[noreturn]] void refuse_option(const char* member, const std::string& was,
                                const std::string& allowed)
{
    detail::throw_argument_error(errc::invalid_option, member, was, allowed);
}

void require(const char* member, milliseconds value, milliseconds least, milliseconds most)
{
    if (value < least || value > most)
        refuse_option(member, text(value), text(least) + " to " + text(most));
}

} // namespace

void lock_options::validate() const
{
    using namespace std::chrono_literals;
    require("lease_time", lease_time, 10ms, 30 * 24h);
    if (renew && renew_interval != 0ms)
        require("renew_interval", renew_interval, 1ms, lease_time / 2);
    if (renew_interval < 0ms)
        refuse_option("renew_interval", text(renew_interval),
                      "0 ms (a third of the lease time) or more");
    if (wait_limit < 0ms)
        refuse_option("wait_limit", text(wait_limit), "0 ms (one try) or more, or no_limit");
    require("backoff_floor", backoff_floor, 1ms, 60s);
    require("backoff_ceiling", backoff_ceiling, backoff_floor, 60s);
    if (longest_hold < 10ms)
        refuse_option("longest_hold", text(longest_hold), "10 ms or more, or no_limit");
    require("handoff_time", handoff_time, 0ms, 60s);
    if (handoff_count > 1'000'000)
        refuse_option("handoff_count", std::to_string(handoff_count), "0 to 1000000");
    require("claim_time", claim_time, 10ms, 60s);
    if (external_share > 100)
        refuse_option("external_share", std::to_string(external_share), "0 to 100");
    if (replica_acks > 1'000)
        refuse_option("replica_acks", std::to_string(replica_acks), "0 to 1000");
    if (replica_timeout < 0ms)
        refuse_option("replica_timeout", text(replica_timeout),
                      "0 ms (an eighth of the lease time, at most a second) or more");
    // A request times out after five seconds, a renewal after a quarter of the lease time.
    if (replica_acks != 0 && replica_timeout != 0ms)
        require("replica_timeout", replica_timeout, 1ms,
                std::min<milliseconds>(lease_time / 4, 4s));
    if (dead_holder_grace != 0ms) {
        require("dead_holder_grace", dead_holder_grace, 100ms, 60s);
        if (dead_holder_grace >= lease_time)
            refuse_option("dead_holder_grace", text(dead_holder_grace), "less than the lease time");
        if (replica_acks != 0)
            refuse_option("dead_holder_grace", text(dead_holder_grace), "0 ms with replica_acks");
    }
}

} // namespace leasehold
