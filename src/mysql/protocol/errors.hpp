#ifndef LEASEHOLD_SRC_MYSQL_PROTOCOL_ERRORS_HPP
#define LEASEHOLD_SRC_MYSQL_PROTOCOL_ERRORS_HPP

#include "sql/protocol/trouble.hpp"

#include <leasehold/detail/export.hpp>

#include <string_view>

namespace leasehold::mysql_store {

/// The meaning of an error of the server, by its number. An unknown one is `errc::store_refused`.
/// @param text The server's own.
[[nodiscard]] LEASEHOLD_MYSQL_EXPORT sql_store::trouble trouble_of(int number,
                                                                   std::string_view text);

/// The server has interrupted a wait.
inline constexpr int query_interrupted = 1317;

} // namespace leasehold::mysql_store

#endif
