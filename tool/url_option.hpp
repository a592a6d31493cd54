#ifndef LEASEHOLD_TOOL_URL_OPTION_HPP
#define LEASEHOLD_TOOL_URL_OPTION_HPP

#include "command_line.hpp"

#include <leasehold/redis.hpp>

#include <string>
#include <string_view>

namespace leasehold::tool {

/// Declares `--url`, and sets the text to its default.
void declare_url(command_line& options, std::string& url);

/// Whether the URL is of ZooKeeper.
[[nodiscard]] bool is_zookeeper(std::string_view url);

/// Whether the URL is of etcd.
[[nodiscard]] bool is_etcd(std::string_view url);

/// Checks the URL of locks that processes share, in any store.
/// @throws usage_error, boost::system::system_error
void check_url(const std::string& url);

/// The servers that the URL names: "127.0.0.1:6379, 127.0.0.1:6380".
[[nodiscard]] std::string servers_of(const std::string& url);

/// Reads the URL of locks that processes share, in Redis.
/// @throws usage_error, boost::system::system_error
[[nodiscard]] redis_config read_url(const std::string& url);

} // namespace leasehold::tool

#endif
