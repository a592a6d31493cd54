#ifndef LEASEHOLD_TEST_CHAOS_MYSQL_HPP
#define LEASEHOLD_TEST_CHAOS_MYSQL_HPP

#include "chaos/deployment.hpp"

#include <memory>
#include <string>
#include <vector>

namespace leasehold::test::chaos {

/// A MariaDB server, or the MySQL server that LEASEHOLD_TEST_MYSQLD names.
[[nodiscard]] std::unique_ptr<deployment> start_mysql(const std::vector<std::string>& names);

} // namespace leasehold::test::chaos

#endif
