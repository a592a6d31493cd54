#include "core/turn/fork_generation.hpp"

#include <atomic>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace leasehold::detail {
namespace {

std::atomic<std::uint64_t> generation{0};

#if defined(__unix__) || defined(__APPLE__)
const int registered = ::pthread_atfork(nullptr, nullptr,
                                        [] { generation.fetch_add(1, std::memory_order_relaxed); });
#endif

} // namespace

std::uint64_t fork_generation() noexcept
{
#if defined(__unix__) || defined(__APPLE__)
    static_cast<void>(registered);
#endif
    return generation.load(std::memory_order_relaxed);
}

} // namespace leasehold::detail
