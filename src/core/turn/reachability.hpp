#ifndef LEASEHOLD_SRC_CORE_TURN_REACHABILITY_HPP
#define LEASEHOLD_SRC_CORE_TURN_REACHABILITY_HPP

#include <leasehold/error.hpp>
#include <leasehold/store.hpp>

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <utility>

namespace leasehold::detail {

/// Which partitions of the store can be reached, by what the store has said. A partition of which
/// it has said nothing cannot.
class reachability
{
public:
    void connected(store_partition partition) { at(partition) = {.id = partition, .online = true}; }

    /// True when it could be reached until now.
    bool disconnected(store_partition partition, error_code why)
    {
        return std::exchange(at(partition), {.id = partition, .trouble = why}).online;
    }

    /// None can be reached any more.
    void clear() noexcept { known_.clear(); }

    [[nodiscard]] bool any() const noexcept { return !known_.empty(); }

    [[nodiscard]] bool online(store_partition partition) const noexcept
    {
        const auto found = find(partition);
        return found != known_.end() && found->online;
    }

    /// Why it cannot be reached; no error where it can, and while nothing is known.
    [[nodiscard]] error_code trouble(store_partition partition) const noexcept
    {
        const auto found = find(partition);
        return found != known_.end() ? found->trouble : error_code();
    }

private:
    struct state
    {
        store_partition id = 0;
        bool online = false;
        error_code trouble{};
    };
    using states = boost::container::small_vector<state, 1>; // most stores have one partition

    [[nodiscard]] states::const_iterator find(store_partition partition) const noexcept
    {
        return std::find_if(known_.begin(), known_.end(),
                            [&](const state& each) { return each.id == partition; });
    }

    state& at(store_partition partition)
    {
        const auto found = std::find_if(known_.begin(), known_.end(),
                                        [&](const state& each) { return each.id == partition; });
        return found != known_.end() ? *found : known_.emplace_back();
    }

    states known_;
};

} // namespace leasehold::detail

#endif
