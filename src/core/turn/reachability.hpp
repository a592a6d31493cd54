#ifndef LEASEHOLD_SRC_CORE_TURN_REACHABILITY_HPP
#define LEASEHOLD_SRC_CORE_TURN_REACHABILITY_HPP

#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>
#include <leasehold/store.hpp>

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <utility>

namespace leasehold::detail {

/// The partitions of the store that can be reached, by the store's notifications. A partition
/// without a notification counts as unreachable.
class reachability
{
public:
    void connected(store_partition partition)
    {
        at(partition) = {.id = partition, .online = true};
        check();
    }

    /// Stores the details of an error, for the next call of `disconnected`.
    void store_details(store_partition partition, error_code why, details_ptr details)
    {
        state& known = at(partition);
        known.id = partition;
        known.details_of = why;
        known.details = std::move(details);
    }

    /// Returns whether the partition could be reached until now.
    bool disconnected(store_partition partition, error_code why)
    {
        state& known = at(partition);
        known.id = partition;
        known.trouble = why;
        if (known.details_of != why)
            known.details.reset();
        const bool until_now = std::exchange(known.online, false);
        check();
        return until_now;
    }

    /// No partition can be reached any more.
    void clear() noexcept
    {
        known_.clear();
        troubled_ = false;
    }

    [[nodiscard]] bool any() const noexcept { return !known_.empty(); }

    /// Whether a partition cannot be reached.
    [[nodiscard]] bool troubled() const noexcept { return troubled_; }

    [[nodiscard]] bool online(store_partition partition) const noexcept
    {
        const auto found = find(partition);
        return found != known_.end() && found->online;
    }

    /// The reason why it cannot be reached; no error if it can, or if nothing is known.
    [[nodiscard]] error_code trouble(store_partition partition) const noexcept
    {
        const auto found = find(partition);
        return found != known_.end() ? found->trouble : error_code();
    }

    /// The store's details of that; null: none.
    [[nodiscard]] details_ptr details(store_partition partition) const noexcept
    {
        const auto found = find(partition);
        return found != known_.end() ? found->details : nullptr;
    }

private:
    struct state
    {
        store_partition id = 0;
        bool online = false;
        error_code trouble{};
        error_code details_of{};
        details_ptr details{};
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

    void check() noexcept
    {
        troubled_ = std::any_of(known_.begin(), known_.end(),
                                [](const state& each) { return !each.online; });
    }

    states known_;
    bool troubled_ = false;
};

} // namespace leasehold::detail

#endif
