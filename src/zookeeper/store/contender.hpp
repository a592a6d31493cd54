#ifndef LEASEHOLD_SRC_ZOOKEEPER_STORE_CONTENDER_HPP
#define LEASEHOLD_SRC_ZOOKEEPER_STORE_CONTENDER_HPP

#include "zookeeper/protocol/messages.hpp"
#include "zookeeper/protocol/node_names.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace leasehold::zookeeper_store {

/// An owner of this session, or a reentrant acquisition, with its child of the lock's node.
struct contender
{
    std::string name; ///< Of the lock.
    std::string owner;
    std::string folder;      ///< The path of the lock's node.
    std::string prefix;      ///< The name of the child, without its number.
    std::string child{};     ///< Its name. Empty: unknown.
    std::string waits_for{}; ///< The path of the child before it, with a watch. Empty: none.
    std::int32_t number = 0;
    std::uint64_t created = 0; ///< The number of the change that has created it.
    std::uint32_t used = 0;    ///< Fences that were given.
    bool holds = false;        ///< It was seen as the first.
    /// A request whose reply was lost may have created or removed the child.
    bool doubtful = false;
    bool leaving = false; ///< Its removal is outstanding.
    bool watched = false; ///< There is a watch on the child, which reports its removal.

    /// The child was created.
    void take(const created_node& made)
    {
        doubtful = false;
        child = made.path.substr(made.path.rfind('/') + 1);
        number = number_of_child(child).value_or(0);
        created = static_cast<std::uint64_t>(made.status.created);
    }

    [[nodiscard]] std::string path() const { return folder + '/' + child; }
    [[nodiscard]] std::string key() const { return folder + '/' + prefix; }
};

/// The fences of a change: a block of 1,024 for each.
inline constexpr unsigned fence_bits = 10;
inline constexpr std::uint32_t fences_of_change = 1U << fence_bits;
/// The largest number of a change whose fences fit into 63 bits.
inline constexpr std::uint64_t last_change = (std::uint64_t(1) << (63 - fence_bits)) - 1;

struct fence_block
{
    std::uint64_t first = 0;
    std::uint32_t size = 0; ///< 0: there are none above the floor.
};

/// Takes fences of the contender's block, at least its last one.
[[nodiscard]] inline fence_block take_fences(contender& of, std::uint32_t wanted,
                                             std::uint64_t floor) noexcept
{
    const std::uint64_t begin = of.created << fence_bits;
    const std::uint64_t last = begin + fences_of_change - 1;
    if (of.created > last_change || last <= floor)
        return {};
    const std::uint64_t first = std::clamp(begin + of.used, std::min(floor + 1, last), last);
    const auto size = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(std::max(wanted, 1U), last - first + 1));
    of.used = static_cast<std::uint32_t>(first + size - begin);
    return {first, size};
}

} // namespace leasehold::zookeeper_store

#endif
