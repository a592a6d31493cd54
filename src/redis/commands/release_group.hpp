#ifndef LEASEHOLD_SRC_REDIS_COMMANDS_RELEASE_GROUP_HPP
#define LEASEHOLD_SRC_REDIS_COMMANDS_RELEASE_GROUP_HPP

#include "redis/commands/contended_names.hpp"

#include <leasehold/store.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::redis_store {

/// Releases of one turn of the strand that one script executes. They are written when the batch is
/// sent, or before a request for one of their names.
class release_group
{
public:
    /// One script with that many releases blocks the server for some 50 microseconds at most.
    static constexpr std::size_t most = 50;

    void add(const release_request& request, store::release_handler handler)
    {
        const std::size_t begin = text_.size();
        text_.append(request.name).append(request.owner);
        releases_.push_back({begin, request.name.size(), request.owner.size(),
                             contended_names::key_of(request.name), request.dead_holder_grace,
                             std::move(handler)});
    }

    [[nodiscard]] std::size_t size() const noexcept { return releases_.size(); }

    /// Whether it may release that name.
    [[nodiscard]] bool may_have(std::string_view name) const
    {
        return std::any_of(
            releases_.begin(), releases_.end(),
            [key = contended_names::key_of(name)](const part& each) { return each.key == key; });
    }

    /// The views are valid while the group is not changed.
    [[nodiscard]] release_request request(std::size_t index) const noexcept
    {
        const part& each = releases_[index];
        const std::string_view text = std::string_view(text_).substr(each.begin);
        return {.name = text.substr(0, each.name),
                .owner = text.substr(each.name, each.owner),
                .entry = {},
                .dead_holder_grace = each.dead_holder_grace};
    }
    [[nodiscard]] store::release_handler& handler(std::size_t index) noexcept
    {
        return releases_[index].handler;
    }

private:
    struct part
    {
        std::size_t begin, name, owner; ///< The position in `text_`, and two sizes.
        contended_names::key key;
        std::chrono::milliseconds dead_holder_grace;
        store::release_handler handler;
    };

    std::string text_;
    std::vector<part> releases_;
};

} // namespace leasehold::redis_store

#endif
