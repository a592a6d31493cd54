#include <leasehold/client.hpp>

#include <leasehold/memory_store.hpp>
#include <leasehold/redis_store.hpp>

#include <utility>

namespace leasehold {
namespace {

std::shared_ptr<store> make_store(const config& where)
{
    where.validate();
    if (where.store == config::kind::memory)
        return make_memory_store(memory_space::shared(where.memory_name));
    return make_redis_store(where);
}

} // namespace

// Apart from the other constructors, so that a program that brings its own store need not link the others.
client::client(asio::any_io_executor executor, const config& where, std::shared_ptr<observer> observer)
    : client(std::move(executor), make_store(where), std::move(observer))
{}

} // namespace leasehold
