// leasehold: this operation's handler must take (leasehold::error_code)
#include <leasehold.hpp>

void wrong(leasehold::client& locks)
{
    locks.async_run(5);
}
