#include "core/acquire/acquire_window.hpp"

#include "base/mutant.hpp"

#include <algorithm>

namespace leasehold::detail {

bool acquire_window::has_room() const noexcept
{
    return under_way_ < all_.limit_;
}

void acquire_window::add(entry& one)
{
    if (has_room() && waiting_.empty())
        one.on_room(*this);
    else
        waiting_.push_back(one);
}

void acquire_window::done()
{
    BOOST_ASSERT(under_way_ > 0);
    --under_way_;
    while (has_room() && !waiting_.empty()) {
        entry& first = waiting_.front();
        waiting_.pop_front();
        acquire_window& there = all_.of(first); // the name may have moved
        if (&there == this)
            first.on_room(*this);
        else
            there.add(first);
    }
}

void acquire_window::follow_names()
{
    for (auto i = waiting_.begin(); i != waiting_.end();) {
        entry& each = *i++;
        acquire_window& there = all_.of(each);
        if (&there == this)
            continue;
        each.withdraw();
        there.add(each);
    }
}

void acquire_windows::follow_names()
{
    for (acquire_window& each : all_)
        each.follow_names();
}

acquire_window& acquire_windows::of(const acquire_window::entry& one)
{
    const store_partition partition = has(mutant::one_window_for_all)
                                          ? 0
                                          : context_.partition_of(one.asked_name());
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const acquire_window& each) {
        return each.partition == partition;
    });
    return found != all_.end() ? *found : all_.emplace_back(*this, partition);
}

} // namespace leasehold::detail
