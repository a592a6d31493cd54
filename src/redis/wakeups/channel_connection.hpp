#ifndef LEASEHOLD_SRC_REDIS_WAKEUPS_CHANNEL_CONNECTION_HPP
#define LEASEHOLD_SRC_REDIS_WAKEUPS_CHANNEL_CONNECTION_HPP

#include "redis/wakeups/push_connection.hpp"

#include <boost/redis/request.hpp>

#include <memory>
#include <utility>

namespace leasehold::redis_store {

/// A connection that subscribes to channels and unsubscribes, many in one turn of the strand: these
/// are sent together.
class channel_connection : public push_connection
{
protected:
    using push_connection::push_connection;
    ~channel_connection() = default;

    /// The connection is being made: commands from now on reach the server, if it succeeds.
    void begin_saying() noexcept;
    /// It has ended.
    void stop_saying() noexcept;

    /// Sends one command at the end of the turn, or with `flush`. Without a connection nothing is
    /// sent: a new connection repeats all commands.
    template <class... Words>
    void say(const Words&... words)
    {
        if (begin_request())
            pending_->push(words...);
    }

    /// Sends the collected commands.
    void flush();

private:
    bool begin_request();

    bool saying_ = false;
    std::shared_ptr<boost::redis::request> pending_;
};

} // namespace leasehold::redis_store

#endif
