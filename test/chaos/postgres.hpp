#ifndef LEASEHOLD_TEST_CHAOS_POSTGRES_HPP
#define LEASEHOLD_TEST_CHAOS_POSTGRES_HPP

#include "chaos/deployment.hpp"

#include <memory>
#include <string>
#include <vector>

namespace leasehold::test::chaos {

/// A PostgreSQL server.
[[nodiscard]] std::unique_ptr<deployment> start_postgres(const std::vector<std::string>& names);

/// A primary, and a standby that confirms each commit and takes over.
[[nodiscard]] std::unique_ptr<deployment> start_postgres_pair(
    const std::vector<std::string>& names);

} // namespace leasehold::test::chaos

#endif
