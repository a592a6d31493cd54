#ifndef LEASEHOLD_TEST_CHAOS_SAVE_HPP
#define LEASEHOLD_TEST_CHAOS_SAVE_HPP

#include "chaos/record.hpp"

#include <filesystem>

namespace leasehold::test::chaos {

/// Writes a record into a new directory: one file for each client, `faults`, and one for each lock
/// of the register.
void save(const record& run, const std::filesystem::path& directory);

} // namespace leasehold::test::chaos

#endif
