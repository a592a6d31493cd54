#ifndef LEASEHOLD_TOOL_DOCTOR_TRIAL_HPP
#define LEASEHOLD_TOOL_DOCTOR_TRIAL_HPP

#include "finding.hpp"

#include <leasehold/store.hpp>

#include <memory>
#include <string>

namespace leasehold::tool::doctor {

/// Acquires a lock through the library, as a program does, and releases it. An error is a problem;
/// a lock held by another owner is a note.
void try_lock(std::shared_ptr<store> locks_in, const std::string& key, findings& to);

} // namespace leasehold::tool::doctor

#endif
