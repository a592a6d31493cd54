#ifndef LEASEHOLD_SRC_STORE_REDIS_PROTOCOL_SCRIPT_HPP
#define LEASEHOLD_SRC_STORE_REDIS_PROTOCOL_SCRIPT_HPP

#include <leasehold/detail/export.hpp>

#include <string>
#include <string_view>

namespace leasehold::redis_store {

/// A script and the name that the server caches it under.
struct script
{
    explicit script(std::string_view source);

    std::string_view text;
    std::string sha; ///< SHA-1 of the text, in lower-case hex.
};

/// The three scripts of the layout `redisson`; their arguments and results are described in the
/// .lua files.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT const script& acquire_script();
[[nodiscard]] LEASEHOLD_REDIS_EXPORT const script& renew_script();
[[nodiscard]] LEASEHOLD_REDIS_EXPORT const script& release_script();

/// Those of the layout `native`.
struct native_scripts
{
    script acquire, release, leave, enter, renew, raise;
};
[[nodiscard]] LEASEHOLD_REDIS_EXPORT const native_scripts& of_native();

/// Finds out whether the three can run.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT const script& check_script();

} // namespace leasehold::redis_store

#endif
