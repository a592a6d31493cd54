#ifndef LEASEHOLD_SRC_POSTGRES_PROTOCOL_ERRORS_HPP
#define LEASEHOLD_SRC_POSTGRES_PROTOCOL_ERRORS_HPP

#include "sql/protocol/trouble.hpp"

#include <leasehold/error.hpp>

#include <string_view>

namespace leasehold::postgres_store {

/// The meaning of an SQLSTATE, by Appendix A of the PostgreSQL documentation. An unknown one is
/// `errc::store_refused`.
[[nodiscard]] error_code classify(std::string_view sqlstate) noexcept;

/// The cause, which decides what the store does.
[[nodiscard]] sql_store::cause cause_of(std::string_view sqlstate) noexcept;

using sql_store::trouble;

} // namespace leasehold::postgres_store

#endif
