#ifndef LEASEHOLD_DOCS_PROGRAMS_EXPECT_HPP
#define LEASEHOLD_DOCS_PROGRAMS_EXPECT_HPP

#include <stdexcept>

/// Throws `otherwise` if the condition is false.
inline void expect(bool so, const char* otherwise)
{
    if (!so)
        throw std::runtime_error(otherwise);
}

#endif
