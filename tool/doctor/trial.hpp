#ifndef LEASEHOLD_TOOL_DOCTOR_TRIAL_HPP
#define LEASEHOLD_TOOL_DOCTOR_TRIAL_HPP

#include "finding.hpp"

#include <leasehold/redis.hpp>

#include <string>

namespace leasehold::tool::doctor {

/// Acquires a lock through the library, as a program does, and releases it. An error is a problem;
/// a lock held by another owner is a note.
void try_lock(const redis_config& where, const std::string& key, findings& to);

} // namespace leasehold::tool::doctor

#endif
