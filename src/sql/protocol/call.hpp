#ifndef LEASEHOLD_SRC_SQL_PROTOCOL_CALL_HPP
#define LEASEHOLD_SRC_SQL_PROTOCOL_CALL_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/store.hpp>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace leasehold::sql_store {

/// The procedures of the schema that clients call.
enum class procedure : std::uint8_t
{
    acquire,
    release,
    renew,
    introduce,
    describe,
    sweep,
    held,   ///< The held locks. For operators, like the next two.
    queue,  ///< The waiters of a name.
    remove, ///< Removes the lock of an owner.
    query,  ///< No procedure: the only value is a text of SQL.
};

/// An argument of a call: NULL, a number, or bytes.
using argument = std::variant<std::monostate, std::int64_t, std::string>;

/// A call of a procedure.
struct call
{
    procedure what;
    std::vector<argument> arguments{}; ///< Of `renew`: four for each renewal.
};

/// Where the server announces the grants of a client.
struct grant_listener
{
    std::int64_t number = 0; ///< The id of the session at the server; 0: there is none.
    bool reliable = true;    ///< Each client can wake it.

    [[nodiscard]] bool hears_all() const noexcept { return number != 0 && reliable; }
};

// The calls of the store. Times of the server are in microseconds since 1970; 0: unknown.
[[nodiscard]] call encode(const acquire_request& request, std::int64_t deadline,
                          grant_listener listener);
[[nodiscard]] call encode(const release_request& request, std::int64_t next_deadline,
                          grant_listener listener);
[[nodiscard]] call encode(std::span<const renewal> renewals);
[[nodiscard]] call encode_sweep(std::string_view after, std::chrono::milliseconds retention);

/// The part of an owner's id before its first colon, which is the id of its client.
[[nodiscard]] std::string_view client_of(std::string_view owner) noexcept;

} // namespace leasehold::sql_store

#endif
