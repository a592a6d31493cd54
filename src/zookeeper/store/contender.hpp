#ifndef LEASEHOLD_SRC_ZOOKEEPER_STORE_CONTENDER_HPP
#define LEASEHOLD_SRC_ZOOKEEPER_STORE_CONTENDER_HPP

#include "base/revision_fences.hpp"
#include "zookeeper/protocol/messages.hpp"
#include "zookeeper/protocol/node_names.hpp"

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

using detail::fence_bits;
using detail::fence_block;
using detail::fences_of_change;

/// Takes fences of the contender's block, at least its last one.
[[nodiscard]] inline fence_block take_fences(contender& of, std::uint32_t wanted,
                                             std::uint64_t floor) noexcept
{
    return detail::take_fences(of.created, of.used, wanted, floor);
}

} // namespace leasehold::zookeeper_store

#endif
