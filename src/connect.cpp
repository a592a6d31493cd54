#include <leasehold/client.hpp>

#include <leasehold/memory.hpp>
#include <leasehold/redis.hpp>

#include <utility>

namespace leasehold {
namespace {

std::shared_ptr<store> make_store(const config& settings)
{
    settings.validate();
    if (settings.store == config::kind::memory)
        return make_memory_store(
            memory_space::shared(settings.memory_name, settings.fence_retention));
    return make_redis_store(settings);
}

} // namespace

// In a file of its own, so that a program with its own store need not link the Redis store.
client::client(asio::any_io_executor executor, const config& settings,
               std::shared_ptr<observer> observer)
    : client(std::move(executor), make_store(settings), std::move(observer))
{}

} // namespace leasehold
