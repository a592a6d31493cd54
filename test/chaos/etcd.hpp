#ifndef LEASEHOLD_TEST_CHAOS_ETCD_HPP
#define LEASEHOLD_TEST_CHAOS_ETCD_HPP

#include "chaos/deployment.hpp"

#include <memory>
#include <string>
#include <vector>

namespace leasehold::test::chaos {

/// Three etcd servers. One at a time is killed, stopped, or cut off from the others.
[[nodiscard]] std::unique_ptr<deployment> start_etcd(const std::vector<std::string>& names);

} // namespace leasehold::test::chaos

#endif
