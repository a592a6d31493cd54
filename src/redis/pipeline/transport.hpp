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

/// Told about a link, on the strand.
class transport_observer
{
public:
    /// Commands can be served. `server_us`: the server's time, unless this user may not ask for it.
    virtual void on_up(std::optional<std::int64_t> server_us) = 0;
    /// They cannot. Called for each reason that is found. `said`: the server's own words, or why
    /// there is no connection.
    virtual void on_down(error_code why, std::string_view said) = 0;
    void on_down(error_code why) { on_down(why, {}); }

protected:
    ~transport_observer() = default;
};

/// The way of batches to a server. Every function is called on the strand.
class transport
{
public:
    virtual ~transport() = default;

    /// @param needed What has to run at the server.
    virtual void open(const asio::any_io_executor& strand,
                      const std::shared_ptr<detail::context_poster>& home, const script_set& needed,
                      transport_observer& user) = 0;
    /// The user is not called any more; what was sent ends soon.
    virtual void close() noexcept = 0;
    /// Its owner is told the end of it, later.
    virtual void send(const std::shared_ptr<batch>& sent) = 0;
    /// Executes batches as `send` does, while the server can be asked. Null: only `send` does.
    [[nodiscard]] virtual std::shared_ptr<request_channel> channel() const { return nullptr; }
    /// Ends a batch that takes too long.
    virtual void abandon(const std::shared_ptr<batch>& sent) = 0;
    /// The server is not a master any more: another one has to be looked for.
    virtual void on_read_only() {}
    /// The connection is there, and what is needed of it was not to be had: begins again, after the
    /// usual pause.
    virtual void begin_again(error_code why, std::string_view said) = 0;
    /// Where it leads to, for diagnostics.
    virtual std::string server() const { return {}; }
    /// The strand's context ends: lets go of all that belongs to it.
    virtual void drop() noexcept = 0;
};

} // namespace leasehold::redis_store

#endif
