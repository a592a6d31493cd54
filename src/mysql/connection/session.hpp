#ifndef LEASEHOLD_SRC_MYSQL_CONNECTION_SESSION_HPP
#define LEASEHOLD_SRC_MYSQL_CONNECTION_SESSION_HPP

#include "sql/connection/session.hpp"

#include <leasehold/mysql_config.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace leasehold::mysql_store {

/// A session by Boost.MySQL.
/// @param listens Whether it announces grants.
[[nodiscard]] std::shared_ptr<sql_store::session> make_session(
    const boost::asio::any_io_executor& strand, std::shared_ptr<const mysql_config> settings,
    std::size_t server, std::string password, bool listens);

} // namespace leasehold::mysql_store

#endif
