#include "redis/connection/readiness_check.hpp"

#include "base/server_clock.hpp"
#include "redis/protocol/script.hpp"

#include <limits>
#include <map>

namespace leasehold::redis_store {

namespace {

// The scripts are loaded as early as possible; for a user without that right their text is sent
// later. HELLO without arguments changes nothing, and no user can be denied it.
boost::redis::request make_readiness_request(const script_set& needed, std::string_view prefix = {})
{
    boost::redis::request all(
        boost::redis::request::config{.cancel_if_unresponded = true, .hello_with_priority = false});
    all.push("HELLO");
    for (const script* each : needed.all)
        all.push("SCRIPT", "LOAD", each->text);
    if (prefix.empty())
        all.push("EVAL", needed.check->text, 0);
    else
        all.push("EVAL", needed.check->text, 0, prefix);
    all.push("EVALSHA", needed.probe->sha, 0); // of no lock
    all.push("TIME");
    return all;
}

} // namespace

readiness_check::readiness_check(const script_set& needed, bool in_cluster, std::string_view prefix)
    : needed_(needed), in_cluster_(in_cluster), answers_(needed.all.size() + others)
{
    if (!prefix.empty())
        own_ = make_readiness_request(needed, prefix);
}

const boost::redis::request& readiness_check::request() const
{
    if (own_)
        return *own_;
    // Mostly the scripts: written once, not for each attempt to connect.
    static const auto written = [] {
        std::map<const script_set*, boost::redis::request> all;
        for (const script_set* const each :
             {&native_script_set(), &native_cluster_script_set(), &redisson_script_set(),
              &redisson_cluster_script_set(), &quorum_script_set()})
            all.emplace(each, make_readiness_request(*each));
        return all;
    }();
    return written.at(&needed_);
}

boost::redis::any_adapter readiness_check::adapter()
{
    using boost::redis::any_adapter;
    return any_adapter(
        any_adapter::impl_t([this](any_adapter::parse_event event,
                                   const boost::redis::resp3::node_view& node, error_code&) {
            if (answered_ == answers_.size())
                return;
            if (event == any_adapter::parse_event::done)
                ++answered_;
            else if (event == any_adapter::parse_event::node) {
                answers_[answered_].record(node);
                if (answered_ == 0 && node.depth == 1)
                    hello_.emplace_back(node.value);
            }
        }));
}

std::string_view readiness_check::mode() const
{
    for (std::size_t i = 0; i + 1 < hello_.size(); i += 2) {
        if (hello_[i] == "mode")
            return hello_[i + 1];
    }
    return {};
}

readiness_check::verdict readiness_check::result() const
{
    for (const reply& each : answers_) {
        if (is_not_serving(each.error))
            return {errc::store_refused, each.error};
    }
    if (mode() == "cluster" && !in_cluster_)
        return {errc::not_supported,
                "the server is part of a Redis Cluster, whose URL begins with redis+cluster://"};
    if (mode() == "sentinel")
        return {errc::not_supported,
                "the server is a Sentinel, whose URL begins with redis+sentinel://"};
    // The requests themselves report the failures that cannot be checked here.
    const auto refuses = [](const reply& each) {
        return !each.error.empty() && error_code(classify(each.error)) == condition::bad_request;
    };
    const reply& sent_text = answer(check);
    const reply& sent_hash = answer(run);
    // A user that may neither load scripts nor send their text cannot run them.
    const bool missing = is_script_missing(sent_hash.error);
    if (refuses(sent_hash))
        return {classify(sent_hash.error), sent_hash.error};
    if (refuses(sent_text) &&
        (missing || sent_text.error.find(", which locks need: ") != std::string::npos))
        return {classify(sent_text.error), sent_text.error};
    return {};
}

std::optional<std::int64_t> readiness_check::server_us() const
{
    const reply& got = answer(time);
    constexpr std::int64_t second = 1'000'000;
    // Keeps the sum below within bounds for any reply.
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / second - 1;
    if (!got.is(2) || got.numbers[0] < 0 || got.numbers[0] > most || got.numbers[1] < 0 ||
        got.numbers[1] >= second)
        return std::nullopt;
    const std::int64_t us = got.numbers[0] * second + got.numbers[1];
    return detail::is_server_time(us) ? std::optional(us) : std::nullopt;
}

} // namespace leasehold::redis_store
