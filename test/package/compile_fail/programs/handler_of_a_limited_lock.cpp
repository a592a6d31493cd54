// leasehold: this operation's handler must take (leasehold::error_code, leasehold::lease)
#include <leasehold.hpp>

void wrong(leasehold::mutex& m, leasehold::owner holder)
{
    m.with_owner(std::move(holder))
        .async_try_lock_for(std::chrono::seconds(1), [](leasehold::error_code, int) {});
}
