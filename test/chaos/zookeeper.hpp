#ifndef LEASEHOLD_TEST_CHAOS_ZOOKEEPER_HPP
#define LEASEHOLD_TEST_CHAOS_ZOOKEEPER_HPP

#include "chaos/deployment.hpp"

#include <memory>
#include <string>
#include <vector>

namespace leasehold::test::chaos {

/// Three ZooKeeper servers. One at a time is killed, stopped, or cut off from the others.
[[nodiscard]] std::unique_ptr<deployment> start_zookeeper(const std::vector<std::string>& names);

} // namespace leasehold::test::chaos

#endif
