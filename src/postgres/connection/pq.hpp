#ifndef LEASEHOLD_SRC_POSTGRES_CONNECTION_PQ_HPP
#define LEASEHOLD_SRC_POSTGRES_CONNECTION_PQ_HPP

#include "postgres/protocol/errors.hpp"

#include <libpq-fe.h>

#include <memory>
#include <string>
#include <string_view>

namespace leasehold::postgres_store {

struct pq_finish
{
    void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
};
using pq_connection = std::unique_ptr<PGconn, pq_finish>;

struct pq_clear
{
    void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using pq_result = std::unique_ptr<PGresult, pq_clear>;

/// The texts of libpq end with a line break, and may have several lines.
[[nodiscard]] std::string one_line(std::string_view text);

/// The error of a statement, or a message without one.
[[nodiscard]] trouble trouble_of(const PGresult& result);

[[nodiscard]] bool is_warning(const PGresult& notice) noexcept;

/// The failure of an attempt to connect. libpq reports the server's SQLSTATE only in its text, with
/// `PQERRORS_VERBOSE`: "FATAL:  28P01: password authentication failed". The first word may be
/// translated.
[[nodiscard]] trouble trouble_of_login(std::string_view text);

} // namespace leasehold::postgres_store

#endif
