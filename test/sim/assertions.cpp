// An assertion that fails in the simulator is a finding of its seed, not the end of the run.
#include "base/mutant.hpp"

#include <boost/assert.hpp>

#include <stdexcept>
#include <string>

namespace boost {

void assertion_failed(const char* expression, const char*, const char* file, long line)
{
    // A deliberate error has to be found by a broken promise.
    if (leasehold::active_mutant == leasehold::mutant::none)
        throw std::logic_error(std::string(file) + ':' + std::to_string(line) +
                               ": assertion failed: " + expression);
}

void assertion_failed_msg(const char* expression, const char*, const char* function,
                          const char* file, long line)
{
    assertion_failed(expression, function, file, line);
}

} // namespace boost
