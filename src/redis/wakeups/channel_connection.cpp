#include "redis/wakeups/channel_connection.hpp"

namespace leasehold::redis_store {

void channel_connection::begin_saying() noexcept
{
    saying_ = true;
    pending_.reset();
}

void channel_connection::stop_saying() noexcept
{
    saying_ = false;
    pending_.reset();
}

bool channel_connection::begin_request()
{
    if (!saying_)
        return false;
    if (!pending_) {
        auto made = make_request();
        poster().post([this, stays = shared_from_this()] { flush(); });
        pending_ = std::move(made);
    }
    return true;
}

void channel_connection::flush()
{
    if (pending_ && is_made())
        send(std::exchange(pending_, nullptr));
}

} // namespace leasehold::redis_store
