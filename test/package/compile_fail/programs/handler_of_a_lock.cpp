// leasehold: this operation's handler must take (leasehold::error_code, leasehold::lease)
#include <leasehold.hpp>

void wrong(leasehold::mutex& m)
{
    m.async_lock([](leasehold::error_code) {});
}
