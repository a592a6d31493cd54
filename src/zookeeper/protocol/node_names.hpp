#ifndef LEASEHOLD_SRC_ZOOKEEPER_PROTOCOL_NODE_NAMES_HPP
#define LEASEHOLD_SRC_ZOOKEEPER_PROTOCOL_NODE_NAMES_HPP

#include <leasehold/detail/export.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The names of nodes. A lock is a node, its holder and its waiters are the children of that node:
//   <root>/<name>/_c_<owner>-lock-<number>
// as Curator names them. A reentrant acquisition has the number of the acquisition that it enters:
//   <root>/<name>/_c_<owner>~<entry>-lock-<number>
namespace leasehold::zookeeper_store {

/// The node of a lock, with the root. Different names have different nodes.
[[nodiscard]] LEASEHOLD_ZOOKEEPER_EXPORT std::string lock_node(std::string_view root,
                                                               std::string_view name);

/// The name of the lock of a node; nothing: it is not the node of a lock. Without the root.
[[nodiscard]] LEASEHOLD_ZOOKEEPER_EXPORT std::optional<std::string> lock_of_node(
    std::string_view node);

/// The name of a child, without its number. `entry` may be empty.
[[nodiscard]] LEASEHOLD_ZOOKEEPER_EXPORT std::string child_prefix(std::string_view owner,
                                                                  std::string_view entry);

/// The beginning of the names of all reentrant acquisitions of an owner.
[[nodiscard]] std::string entries_prefix(std::string_view owner);

/// Whether the child has this prefix, and only its number after it.
[[nodiscard]] bool is_child_of(std::string_view child, std::string_view prefix) noexcept;

/// The owner in the name of a child, or an empty text: the child is another library's.
[[nodiscard]] LEASEHOLD_ZOOKEEPER_EXPORT std::string owner_of_child(std::string_view child);

/// The number at the end of a child's name, of any library; nothing: the child does not contend for
/// the lock. The server counts up to the largest number, and continues with the smallest.
[[nodiscard]] LEASEHOLD_ZOOKEEPER_EXPORT std::optional<std::int32_t> number_of_child(
    std::string_view child) noexcept;

/// The order of two numbers of children that exist together.
[[nodiscard]] constexpr bool is_before(std::int32_t a, std::int32_t b) noexcept
{
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) -
                                     static_cast<std::uint32_t>(b)) < 0;
}

/// The node that contains a node for each client.
[[nodiscard]] LEASEHOLD_ZOOKEEPER_EXPORT std::string clients_node(std::string_view root);

/// The part of an owner's id before its first colon, which is the id of its client.
[[nodiscard]] inline std::string_view client_of(std::string_view owner) noexcept
{
    return owner.substr(0, owner.find(':'));
}

} // namespace leasehold::zookeeper_store

#endif
