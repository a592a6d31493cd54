#ifndef LEASEHOLD_TOOL_DOCTOR_TRIAL_HPP
#define LEASEHOLD_TOOL_DOCTOR_TRIAL_HPP

#include "finding.hpp"

#include <leasehold/config.hpp>

#include <string>

namespace leasehold::tool::doctor {

/// Takes a lock by the library, as a program would, and releases it. What goes wrong is a problem;
/// that another holds it is a note.
void try_lock(const config& where, const std::string& key, findings& to);

} // namespace leasehold::tool::doctor

#endif
