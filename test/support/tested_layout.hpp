#ifndef LEASEHOLD_TEST_SUPPORT_TESTED_LAYOUT_HPP
#define LEASEHOLD_TEST_SUPPORT_TESTED_LAYOUT_HPP

#include "support/resp_client.hpp"

#include <leasehold/redis.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

// Most tests with real servers run once for each layout of the Redis store. These functions know
// the keys of each.
namespace leasehold::test {

/// The layout of this run: that of the environment variable LEASEHOLD_TEST_LAYOUT, `native` or
/// `redisson`, otherwise the default. Programs that a test starts use the same.
[[nodiscard]] redis_config::key_layout tested_layout();

/// The key of the fences of the name.
[[nodiscard]] std::string fence_key_of(const std::string& name);

/// The complete record of the holder of the name. Empty: none.
[[nodiscard]] std::vector<std::string> record_of(resp_client& server, const std::string& name);

/// The id of the owner that holds the name. Empty: none.
[[nodiscard]] std::string holder_of(resp_client& server, const std::string& name);

/// The number of times it is held, by all owners.
[[nodiscard]] std::int64_t holds_of(resp_client& server, const std::string& name);

/// The number of clients in the queue for the name, including dead ones.
[[nodiscard]] std::int64_t waiters_of(resp_client& server, const std::string& name);

/// Acquires the name for an owner, like another library that excludes this layout.
void take_for(resp_client& server, const std::string& name, const std::string& owner,
              std::chrono::milliseconds time);

} // namespace leasehold::test

#endif
