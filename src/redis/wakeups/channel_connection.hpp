#ifndef LEASEHOLD_SRC_REDIS_WAKEUPS_CHANNEL_CONNECTION_HPP
#define LEASEHOLD_SRC_REDIS_WAKEUPS_CHANNEL_CONNECTION_HPP

#include "redis/wakeups/push_connection.hpp"

#include <boost/redis/request.hpp>

#include <memory>
#include <utility>

namespace leasehold::redis_store {

/// One on which channels are subscribed to and left again, many in one turn of the strand: these go
/// out together.
class channel_connection : public push_connection
{
protected:
    using push_connection::push_connection;
    ~channel_connection() = default;

    /// The connection is being made: what is said from here on reaches the server, if it is.
    void begin_saying() noexcept;
    /// It has ended.
    void stop_saying() noexcept;

    /// One command, at the end of the turn, or with `flush`. Nothing where it would not arrive:
    /// whoever makes the connection says all again.
    template <class... Words>
    void say(const Words&... words)
    {
        if (begin_request())
            pending_->push(words...);
    }

    /// Sends what was said.
    void flush();

private:
    bool begin_request();

    bool saying_ = false;
    std::shared_ptr<boost::redis::request> pending_;
};

} // namespace leasehold::redis_store

#endif
