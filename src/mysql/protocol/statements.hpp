#ifndef LEASEHOLD_SRC_MYSQL_PROTOCOL_STATEMENTS_HPP
#define LEASEHOLD_SRC_MYSQL_PROTOCOL_STATEMENTS_HPP

#include "sql/protocol/call.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::mysql_store {

/// Bytes as hexadecimal digits.
[[nodiscard]] std::string hex(std::string_view bytes);

/// The SQL text of a call.
/// @param order Set for renewals: the text has them in the order of names.
[[nodiscard]] std::string text_of(const sql_store::call& made, std::vector<std::size_t>& order);

} // namespace leasehold::mysql_store

#endif
