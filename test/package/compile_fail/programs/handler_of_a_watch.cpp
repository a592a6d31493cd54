// leasehold: this operation's handler must take (leasehold::error_code)
#include <leasehold.hpp>

void wrong(leasehold::lease& held)
{
    held.async_wait_lost([](std::exception_ptr) {});
}
