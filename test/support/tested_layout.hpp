#ifndef LEASEHOLD_TEST_SUPPORT_TESTED_LAYOUT_HPP
#define LEASEHOLD_TEST_SUPPORT_TESTED_LAYOUT_HPP

#include "support/resp_client.hpp"

#include <leasehold/config.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

// Most tests with real servers run once for each layout of the Redis store. This is their knowledge
// of keys.
namespace leasehold::test {

/// The layout of this run: that of the environment variable LEASEHOLD_TEST_LAYOUT, `native` or
/// `redisson`, otherwise the default. Programs that a test starts have the same.
[[nodiscard]] config::key_layout tested_layout();

/// The key of the fences of the name.
[[nodiscard]] std::string fence_key_of(const std::string& name);

/// The server's whole record of the holder of the name; empty: none.
[[nodiscard]] std::vector<std::string> record_of(resp_client& server, const std::string& name);

/// The id of the owner that holds the name; empty: none.
[[nodiscard]] std::string holder_of(resp_client& server, const std::string& name);

/// How many times it is held, by all owners.
[[nodiscard]] std::int64_t holds_of(resp_client& server, const std::string& name);

/// The number of clients in the queue for the name, including those that have died since.
[[nodiscard]] std::int64_t waiters_of(resp_client& server, const std::string& name);

/// Takes the name for an owner, as another library would that excludes this layout.
void take_for(resp_client& server, const std::string& name, const std::string& owner,
              std::chrono::milliseconds time);

} // namespace leasehold::test

#endif
