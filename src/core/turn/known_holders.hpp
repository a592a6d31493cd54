#ifndef LEASEHOLD_SRC_CORE_TURN_KNOWN_HOLDERS_HPP
#define LEASEHOLD_SRC_CORE_TURN_KNOWN_HOLDERS_HPP

#include <leasehold/client_info.hpp>
#include <leasehold/clock.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::detail {

/// The records of the holders that this client has met: a fixed number of the latest ones. Used
/// only for the details of errors.
class known_holders
{
public:
    /// Null: unknown.
    [[nodiscard]] const client_info* find(std::string_view holder) const noexcept
    {
        const entry* const found = entry_of(holder);
        return found == nullptr || found->info.empty() ? nullptr : &found->info;
    }

    /// Whether to request its record. For a holder without one, a request follows after a pause.
    [[nodiscard]] bool is_new(std::string_view holder, clock::time_point now) const noexcept
    {
        const entry* const found = entry_of(holder);
        return found == nullptr || (found->info.empty() && now - found->queried >= pause);
    }

    /// Called when the record is requested.
    void queried(std::string_view holder, clock::time_point now)
    {
        entry& place = place_of(holder);
        place.queried = now;
    }

    void learn(std::string_view holder, client_info info)
    {
        place_of(holder).info = std::move(info);
    }

private:
    struct entry
    {
        std::string holder;
        client_info info;
        clock::time_point queried{};
    };

    static constexpr std::size_t most = 32;
    static constexpr std::chrono::seconds pause{10};

    [[nodiscard]] const entry* entry_of(std::string_view holder) const noexcept
    {
        const auto found = std::find_if(all_.begin(), all_.end(),
                                        [&](const entry& e) { return e.holder == holder; });
        return found == all_.end() ? nullptr : &*found;
    }

    entry& place_of(std::string_view holder)
    {
        if (const entry* const found = entry_of(holder))
            return all_[static_cast<std::size_t>(found - all_.data())];
        entry made;
        made.holder = holder;
        if (all_.size() < most)
            return all_.emplace_back(std::move(made));
        entry& place = all_[next_++ % most];
        place = std::move(made);
        return place;
    }

    std::vector<entry> all_;
    std::size_t next_ = 0;
};

} // namespace leasehold::detail

#endif
