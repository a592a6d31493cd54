#ifndef LEASEHOLD_ERROR_HPP
#define LEASEHOLD_ERROR_HPP

#include <leasehold/detail/export.hpp>

#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/error_condition.hpp>

#include <type_traits>

namespace leasehold {

using boost::system::error_code;
using boost::system::error_condition;

/// Why an operation of this library failed. Cancellation is not listed: it is
/// `asio::error::operation_aborted`.
enum class errc
{
    held = 1,          ///< Another owner has the lock.
    timed_out,         ///< The wait limit passed and another owner still had the lock.
    lost,              ///< The store says that the key is gone or has another owner.
    expired,           ///< The deadline passed before a renewal was confirmed.
    not_owner,         ///< The release found another owner, or none; nothing was touched.
    hold_limit,        ///< Held for the longest time that the options allow; then released.
    no_quorum,         ///< Too few independent masters granted the lock.
    not_replicated,    ///< Too few replicas confirmed the lock; it was given back.
    wrong_type,        ///< The key holds a value that is not a lock.
    invalid_name,      ///< The name is empty, longer than 4 KiB, or begins with a reserved prefix.
    invalid_option,    ///< An option is outside its allowed range.
    invalid_url,       ///< The store's URL cannot be used.
    not_supported,     ///< The request is valid, but this version or this store cannot serve it.
    not_running,       ///< `client::async_run` has not been called.
    shut_down,         ///< The client was shut down.
    permission_denied, ///< The server refused the credentials or a command.
    store_refused, ///< The server answered that it did not execute the command and may do so later.
    store_unavailable, ///< The server could not be reached; the command was not sent.
    outcome_unknown,   ///< The connection ended after the command was sent; it may or may not have
                       ///< run.
    already_running,   ///< `client::async_run` was called before: a client runs once.
    silent,            ///< No sign of life was confirmed for `lock_options::dead_holder_grace`.
};

/// What a caller usually wants to know of an error: compare an `error_code` with one of these.
enum class condition
{
    busy = 1,    ///< Someone else has the lock: `held`, `timed_out`.
    lease_ended, ///< A lease is no longer held: `lost`, `expired`, `not_owner`, `hold_limit`,
                 ///< `silent`.
    bad_request, ///< Trying again cannot help: `wrong_type`, `invalid_*`, `not_supported`,
                 ///< `permission_denied`, `already_running`.
    store_fault, ///< The lock service is at fault: `store_*`, `outcome_unknown`, `no_quorum`,
                 ///< `not_replicated`.
};

/// The category of `errc`. Thread-safe; never throws.
[[nodiscard]] LEASEHOLD_EXPORT const boost::system::error_category& lock_category() noexcept;

/// The category of `condition`. Thread-safe; never throws.
[[nodiscard]] LEASEHOLD_EXPORT const boost::system::error_category& condition_category() noexcept;

[[nodiscard]] inline error_code make_error_code(errc e) noexcept
{
    return {static_cast<int>(e), lock_category()};
}

[[nodiscard]] inline error_condition make_error_condition(condition c) noexcept
{
    return {static_cast<int>(c), condition_category()};
}

} // namespace leasehold

namespace boost::system {

template <>
struct is_error_code_enum<leasehold::errc> : std::true_type
{};

template <>
struct is_error_condition_enum<leasehold::condition> : std::true_type
{};

} // namespace boost::system

#endif
