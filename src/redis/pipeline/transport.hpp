#ifndef LEASEHOLD_SRC_REDIS_PIPELINE_TRANSPORT_HPP
#define LEASEHOLD_SRC_REDIS_PIPELINE_TRANSPORT_HPP

#include "core/async/context_poster.hpp"

#include <leasehold/error.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace leasehold::redis_store {

class batch;
class request_channel;
struct script_set;

/// Receives the state of a connection, on the strand.
class transport_observer
{
public:
    /// Commands can be sent. `server_us`: the server's time; empty if this user may not read it.
    virtual void on_up(std::optional<std::int64_t> server_us) = 0;
    /// Commands cannot be sent. Called for each reason. `text`: the text of the server, or the
    /// reason why there is no connection.
    virtual void on_down(error_code why, std::string_view text) = 0;
    void on_down(error_code why) { on_down(why, {}); }

protected:
    ~transport_observer() = default;
};

/// Sends batches to a server. Every function is called on the strand.
class transport
{
public:
    virtual ~transport() = default;

    /// @param needed The scripts that the server must run.
    virtual void open(const asio::any_io_executor& strand,
                      const std::shared_ptr<detail::context_poster>& poster,
                      const script_set& needed, transport_observer& user) = 0;
    /// The user is not called any more. Outstanding batches end soon.
    virtual void close() noexcept = 0;
    /// Sends a batch. Its owner is notified of the end, never inside this call.
    virtual void send(const std::shared_ptr<batch>& sent) = 0;
    /// Executes batches as `send` does, while the server can be used. Null: only `send` does.
    [[nodiscard]] virtual std::shared_ptr<request_channel> channel() const { return nullptr; }
    /// Ends a batch that takes too long.
    virtual void abandon(const std::shared_ptr<batch>& sent) = 0;
    /// Called when the server is no longer a master: another server must be found.
    virtual void on_read_only() {}
    /// Reconnects after the usual pause, because the server cannot be used.
    virtual void begin_again(error_code why, std::string_view text) = 0;
    /// The address of the server, for diagnostics.
    virtual std::string server() const { return {}; }
    /// Called when the context of the strand ends: destroys everything that belongs to it.
    virtual void drop() noexcept = 0;
};

} // namespace leasehold::redis_store

#endif
