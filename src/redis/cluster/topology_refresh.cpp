#include "redis/cluster/topology_refresh.hpp"

#include "base/mutant.hpp"
#include "redis/connection/reconnect_pause.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace leasehold::redis_store::cluster {
namespace {

// Between the beginnings of two questions for the topology.
constexpr std::chrono::seconds pause{1};

} // namespace

bool topology_refresh::want(const std::optional<redis_config::address>& up_to_date)
{
    if (known_ && has(mutant::map_asked_once))
        return false;
    if (up_to_date && !has(mutant::same_node_asked))
        up_to_date_ = up_to_date;
    return !std::exchange(wanted_, true);
}

std::vector<redis_config::address> topology_refresh::candidates(const slot_map& map)
{
    std::vector<redis_config::address> all;
    const auto add = [&](const redis_config::address& one) {
        if (std::find(all.begin(), all.end(), one) == all.end())
            all.push_back(one);
    };
    for (const auto& each : map.nodes()) {
        if (each->now == master_node::state::up)
            add(each->at);
    }
    for (const redis_config::address& each : settings_.addresses)
        add(each);
    for (const redis_config::address& each : others_)
        add(each);
    for (const auto& each : map.nodes()) {
        if (each->partition != 0 && each->serves)
            add(each->at);
    }
    // Starts with another node each time, so that no wrong map stays for ever: the only reachable
    // node may be one that the others have lost.
    if (!has(mutant::same_node_asked))
        std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(seed_++ % all.size()),
                    all.end());
    if (up_to_date_) {
        const redis_config::address first = *std::exchange(up_to_date_, std::nullopt);
        std::erase(all, first);
        all.insert(all.begin(), first);
    }
    return all;
}

void topology_refresh::ask(const slot_map& map, clock::time_point now,
                           const asio::any_io_executor& strand,
                           topology_question::listener callbacks)
{
    wanted_ = false;
    next_ = now + (known_ ? clock::duration(pause) : reconnect_pause(settings_.reconnect, random_));
    if (has(mutant::map_without_pause))
        next_ = now;
    question_ = std::make_shared<topology_question>(settings_, from_, candidates(map), epoch_,
                                                    std::move(callbacks));
    question_->open(strand);
}

void topology_refresh::answered(const topology& found)
{
    question_.reset();
    known_ = true;
    others_ = found.others;
    epoch_ = found.epoch;
}

void topology_refresh::failed()
{
    question_.reset();
    wanted_ = true;
}

void topology_refresh::close() noexcept
{
    if (const auto question = std::exchange(question_, nullptr))
        question->close();
}

void topology_refresh::drop() noexcept
{
    if (const auto question = std::exchange(question_, nullptr))
        question->drop();
}

} // namespace leasehold::redis_store::cluster
