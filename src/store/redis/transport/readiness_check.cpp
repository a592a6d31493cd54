#include "store/redis/transport/readiness_check.hpp"

#include "store/redis/protocol/script.hpp"
#include "store/redis/protocol/server_clock.hpp"

#include <algorithm>
#include <limits>

namespace leasehold::redis_store {

// The scripts come as early as possible, but a user that may not load them sends their text later.
readiness_check::readiness_check()
    : request(boost::redis::request::config{.cancel_if_unresponded = true,
                                            .hello_with_priority = false})
{
    for (const script* each : {&acquire_script(), &renew_script(), &release_script()})
        request.push("SCRIPT", "LOAD", each->text);
    request.push("TIME");
}

boost::redis::any_adapter readiness_check::adapter()
{
    using boost::redis::any_adapter;
    return any_adapter(
        any_adapter::impl_t([this](any_adapter::parse_event event,
                                   const boost::redis::resp3::node_view& node, error_code&) {
            if (answered_ == answers_.size())
                return;
            if (event == any_adapter::parse_event::node)
                answers_[answered_].record(node);
            else if (event == any_adapter::parse_event::done)
                ++answered_;
        }));
}

bool readiness_check::refused() const
{
    return std::any_of(answers_.begin(), answers_.end(),
                       [](const reply& each) { return is_not_serving(each.error); });
}

std::optional<std::int64_t> readiness_check::server_us() const
{
    const reply& time = answers_.back();
    constexpr std::int64_t second = 1'000'000;
    // So that the sum below is within bounds whatever was answered.
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / second - 1;
    if (!time.is(2) || time.numbers[0] < 0 || time.numbers[0] > most || time.numbers[1] < 0 ||
        time.numbers[1] >= second)
        return std::nullopt;
    const std::int64_t us = time.numbers[0] * second + time.numbers[1];
    return is_server_time(us) ? std::optional(us) : std::nullopt;
}

} // namespace leasehold::redis_store
