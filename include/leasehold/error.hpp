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

/// Error codes of this library. A cancelled operation completes with
/// `asio::error::operation_aborted`.
enum class errc
{
    held = 1,          ///< Another owner holds the lock.
    timed_out,         ///< The wait limit passed while another owner held the lock.
    lost,              ///< In the store the lock is gone, or another owner holds it.
    expired,           ///< The deadline passed before a renewal was confirmed.
    not_owner,         ///< The owner of the lease does not hold the lock; nothing was changed.
    hold_limit,        ///< The lock was held for `lock_options::longest_hold`, and was released.
    no_quorum,         ///< Too few members of a quorum executed the request.
    not_replicated,    ///< Too few replicas confirmed the lock; it was released.
    wrong_type,        ///< The key holds a value that is not a lock.
    invalid_name,      ///< The name is empty, longer than 4 KiB, or has a reserved prefix.
    invalid_option,    ///< An option is outside its allowed range.
    invalid_url,       ///< The URL of the store is not valid.
    not_supported,     ///< The request is valid, but this version or this store cannot serve it.
    not_running,       ///< `client::async_run` was not called.
    shut_down,         ///< The client was shut down.
    permission_denied, ///< The server rejects the credentials or a command.
    store_refused,     ///< The server did not execute the command, and may do so later.
    store_unavailable, ///< The server cannot be reached; the command was not sent.
    outcome_unknown,   ///< The command was sent and got no reply; it may have been executed.
    already_running,   ///< `client::async_run` was called before: a client runs once.
    silent,            ///< No heartbeat was confirmed for `lock_options::dead_holder_grace`.
};

/// Groups of errors by the reaction of a caller. Compare an `error_code` with one of these.
enum class condition
{
    busy = 1,    ///< Another owner holds the lock: `held`, `timed_out`.
    lease_ended, ///< The lease has ended: `lost`, `expired`, `not_owner`, `hold_limit`, `silent`.
    bad_request, ///< A retry does not help: `wrong_type`, `invalid_*`, `not_supported`,
                 ///< `permission_denied`, `already_running`.
    store_fault, ///< The store failed: `store_*`, `outcome_unknown`, `no_quorum`, `not_replicated`.
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
