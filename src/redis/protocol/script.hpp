#ifndef LEASEHOLD_SRC_REDIS_PROTOCOL_SCRIPT_HPP
#define LEASEHOLD_SRC_REDIS_PROTOCOL_SCRIPT_HPP

#include <leasehold/detail/export.hpp>

#include <span>
#include <string>
#include <string_view>

namespace leasehold::redis_store {

/// A script and the name under which the server caches it.
struct script
{
    LEASEHOLD_REDIS_EXPORT explicit script(std::string_view source);

    std::string_view text;
    std::string sha; ///< SHA-1 of the text, in lower-case hex.
};

/// The scripts of a layout; their arguments and results are described in the .lua files.
struct script_set
{
    std::span<const script* const> all;
    const script* check; ///< Checks whether the others can run.
    const script* probe; ///< A script that does nothing without a key.
};

/// Scripts of the layout `redisson`.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT const script& acquire_script();
[[nodiscard]] LEASEHOLD_REDIS_EXPORT const script& renew_script();
[[nodiscard]] LEASEHOLD_REDIS_EXPORT const script& release_script();
[[nodiscard]] LEASEHOLD_REDIS_EXPORT const script& release_all_script();
[[nodiscard]] LEASEHOLD_REDIS_EXPORT const script& check_script();
/// The scripts that use the queue.
struct queue_scripts
{
    script acquire, leave;
};
[[nodiscard]] LEASEHOLD_REDIS_EXPORT const queue_scripts& of_queue();
[[nodiscard]] LEASEHOLD_REDIS_EXPORT const script_set& redisson_script_set();
/// The same for a node of a cluster.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT const script_set& redisson_cluster_script_set();

/// Scripts of the layout `native`.
struct native_scripts
{
    script acquire, release, release_all, leave, reenter, renew, renew_brief, alive, raise, check;
};
[[nodiscard]] LEASEHOLD_REDIS_EXPORT const native_scripts& of_native();
[[nodiscard]] LEASEHOLD_REDIS_EXPORT const script_set& native_script_set();
/// The same for a node of a cluster.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT const script_set& native_cluster_script_set();

/// Scripts of the members of a quorum.
struct quorum_scripts
{
    script acquire, reenter, renew, release, inspect, adopt, seed, check;
};
[[nodiscard]] LEASEHOLD_REDIS_EXPORT const quorum_scripts& of_quorum();
[[nodiscard]] LEASEHOLD_REDIS_EXPORT const script_set& quorum_script_set();

} // namespace leasehold::redis_store

#endif
