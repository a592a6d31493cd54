#ifndef LEASEHOLD_SRC_POSTGRES_PROTOCOL_STATEMENTS_HPP
#define LEASEHOLD_SRC_POSTGRES_PROTOCOL_STATEMENTS_HPP

#include "postgres/protocol/parameters.hpp"

#include <leasehold/store.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace leasehold::postgres_store {

/// The functions of the schema that the store calls.
enum class statement : std::uint8_t
{
    acquire,
    release,
    renew,
    introduce,
    describe,
    sweep,
};

inline constexpr std::array all_statements{statement::acquire,  statement::release,
                                           statement::renew,    statement::introduce,
                                           statement::describe, statement::sweep};

/// The name under which a session prepares it.
[[nodiscard]] const char* name_of(statement which) noexcept;

/// Its SQL text. `schema` is a quoted identifier.
[[nodiscard]] std::string text_of(statement which, const std::string& schema);

// The parameters. Times of the server are in microseconds since 1970; 0: unknown. `listener` is the
// number of the session on which this client is notified; 0: none.
[[nodiscard]] parameters encode(const acquire_request& request, std::int64_t deadline,
                                std::int32_t listener);
[[nodiscard]] parameters encode(const release_request& request, std::int64_t next_deadline,
                                std::int32_t listener);
[[nodiscard]] parameters encode(std::span<const renewal> renewals);
[[nodiscard]] parameters encode_introduce(std::string_view client, std::string_view info);
[[nodiscard]] parameters encode_describe(std::string_view prefix);
[[nodiscard]] parameters encode_sweep(std::string_view after, std::chrono::milliseconds retention);

/// The part of an owner's id before its first colon, which is the id of its client.
[[nodiscard]] std::string_view client_of(std::string_view owner) noexcept;

} // namespace leasehold::postgres_store

#endif
