#ifndef LEASEHOLD_SRC_POSTGRES_PROTOCOL_STATEMENTS_HPP
#define LEASEHOLD_SRC_POSTGRES_PROTOCOL_STATEMENTS_HPP

#include "postgres/protocol/parameters.hpp"
#include "sql/protocol/call.hpp"

#include <array>
#include <string>

namespace leasehold::postgres_store {

using sql_store::procedure;

/// The statements that a session prepares.
inline constexpr std::array prepared_statements{procedure::acquire,  procedure::release,
                                                procedure::renew,    procedure::introduce,
                                                procedure::describe, procedure::sweep};

/// The name under which a session prepares it; null: it does not.
[[nodiscard]] const char* name_of(procedure which) noexcept;

/// Its SQL text. `schema` is a quoted identifier.
[[nodiscard]] std::string text_of(const sql_store::call& made, const std::string& schema);

/// Its parameters.
[[nodiscard]] parameters encode(const sql_store::call& made);

} // namespace leasehold::postgres_store

#endif
