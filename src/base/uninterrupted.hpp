#ifndef LEASEHOLD_SRC_BASE_UNINTERRUPTED_HPP
#define LEASEHOLD_SRC_BASE_UNINTERRUPTED_HPP

#include <cerrno>

namespace leasehold::detail {

/// The result of a system call, repeated while a signal interrupts it.
template <class Call>
auto uninterrupted(Call call)
{
    auto result = call();
    while (result < 0 && errno == EINTR)
        result = call();
    return result;
}

} // namespace leasehold::detail

#endif
