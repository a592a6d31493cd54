#ifndef LEASEHOLD_EXAMPLE_RETHROW_HPP
#define LEASEHOLD_EXAMPLE_RETHROW_HPP

#include <exception>

namespace example {

/// A handler for `co_spawn`: the exception of the coroutine leaves `run` of its context.
inline void rethrow(std::exception_ptr failure)
{
    if (failure)
        std::rethrow_exception(failure);
}

} // namespace example

#endif
