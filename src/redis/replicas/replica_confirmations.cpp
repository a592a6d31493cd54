#include "redis/replicas/replica_confirmations.hpp"

#include <algorithm>

namespace leasehold::redis_store {
namespace {

// More than any deployment has; requests for more share one connection.
constexpr std::uint32_t most_connections = 16;

} // namespace

std::shared_ptr<replica_confirmation> replica_confirmations::make() const
{
    const auto made = std::make_shared<replica_confirmation>(settings_, from_);
    made->on_other_server = on_other_server;
    made->other_slot = other_slot;
    return made;
}

replica_confirmations::replica_confirmations(const redis_config& settings,
                                             std::shared_ptr<environment> from)
    : settings_(settings), from_(std::move(from))
{
    all_.emplace_back(0, make());
}

void replica_confirmations::open(const asio::any_io_executor& strand,
                                 const std::shared_ptr<detail::context_poster>& poster,
                                 store_listener& listener)
{
    for (const auto& [acks, each] : all_) {
        each->on_other_server = on_other_server;
        each->other_slot = other_slot;
        each->open(strand, poster, listener);
    }
}

void replica_confirmations::close() noexcept
{
    for (const auto& [acks, each] : all_)
        each->close();
}

replica_confirmation& replica_confirmations::of(std::uint32_t acks)
{
    acks = std::min(acks, most_connections);
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const auto& each) {
        return each.first == acks || each.first == 0;
    });
    if (found != all_.end()) {
        found->first = acks;
        return *found->second;
    }
    const auto made = make();
    made->open_like(*all_.front().second);
    all_.emplace_back(acks, made);
    return *made;
}

std::shared_ptr<unconfirmed> replica_confirmations::expect(const renewal& held, bool asking)
{
    return of(held.replica_acks).expect(held, asking);
}

void replica_confirmations::confirm(const std::shared_ptr<unconfirmed>& lock,
                                    unconfirmed::handler done)
{
    of(lock->acks).confirm(lock, std::move(done));
}

void replica_confirmations::lost_commands()
{
    for (const auto& [acks, each] : all_)
        each->lost_commands();
}

void replica_confirmations::leaving(std::string_view owner, std::string_view entry) noexcept
{
    for (const auto& [acks, each] : all_)
        each->leaving(owner, entry);
}

} // namespace leasehold::redis_store
