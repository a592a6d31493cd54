#ifndef LEASEHOLD_SRC_MYSQL_CONFIG_CONFIG_CHECK_HPP
#define LEASEHOLD_SRC_MYSQL_CONFIG_CONFIG_CHECK_HPP

#include "base/connection_config.hpp"

#include <leasehold/mysql_config.hpp>

#include <string>

namespace leasehold::mysql_store {

/// Names the first invalid field, its value, and the allowed values; empty if all are valid.
/// Contains no password.
[[nodiscard]] std::string problem_of(const mysql_config& c);

[[nodiscard]] inline bool is_socket(const mysql_config::address& at)
{
    return at.host.starts_with('/');
}

/// The address in the form for logs: "db1:3306", "[::1]:3306", "/run/mysqld/mysqld.sock".
[[nodiscard]] inline std::string name_of(const mysql_config::address& at)
{
    return is_socket(at) ? at.host : detail::host_and_port(at.host, at.port);
}

} // namespace leasehold::mysql_store

#endif
