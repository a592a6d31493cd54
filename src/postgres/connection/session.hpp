#ifndef LEASEHOLD_SRC_POSTGRES_CONNECTION_SESSION_HPP
#define LEASEHOLD_SRC_POSTGRES_CONNECTION_SESSION_HPP

#include "postgres/connection/pq.hpp"
#include "postgres/protocol/errors.hpp"
#include "postgres/protocol/parameters.hpp"

#include <leasehold/clock.hpp>
#include <leasehold/error.hpp>
#include <leasehold/postgres_config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::postgres_store {

namespace asio = boost::asio;

/// Notified about a session, on its strand, never inside a call of the session.
class session_user
{
public:
    /// The server accepted the user, and the session is in pipeline mode.
    virtual void on_open() = 0;
    /// A result; after those of each batch, one with the status `PGRES_PIPELINE_SYNC`.
    virtual void on_result(const PGresult& result) = 0;
    virtual void on_notification(std::string_view payload) = 0;
    /// The attempt to connect failed, or the session ended. The last call.
    virtual void on_closed(const trouble& why) = 0;

protected:
    ~session_user() = default;
};

/// One session at one server, from the attempt to connect until its end: libpq, driven by Asio. All
/// on one strand.
///
/// libpq resolves host names in the calling thread, so Asio resolves them. libpq closes its own
/// descriptor, and may replace it while it connects, so this waits on duplicates of it.
class session final : public std::enable_shared_from_this<session>
{
public:
    session(const asio::any_io_executor& strand, const postgres_config& settings,
            postgres_config::address at, std::string password)
        : settings_(settings),
          at_(std::move(at)),
          password_(std::move(password)),
          descriptor_(strand),
          resolver_(strand),
          timer_(strand)
    {}

    /// Begins to connect. `user` is valid until `close` or `on_closed`.
    void open(session_user& user);

    /// Ends the session. The user gets no more calls.
    void close() noexcept;

    /// As `close`, in a forked process: the session belongs to the parent, and nothing is sent.
    void abandon() noexcept;

    // Add to the current batch; nothing is sent before `finish_batch`. If one fails, the session
    // ends soon.
    void prepare(const char* name, const std::string& text);
    void execute(const std::string& text, const parameters& values);
    void execute_prepared(const char* name, const parameters& values);
    /// The batch is complete, and becomes one transaction. Sends it.
    void finish_batch();

    /// Sends a text without waiting for its result, because the session is about to be closed.
    void say_last(const char* text) noexcept;

    /// Whether each byte of each batch was given to the operating system. Until then the server
    /// cannot have committed the last one.
    [[nodiscard]] bool sent_all() const noexcept { return sent_all_; }
    /// Whether a batch has no result yet.
    [[nodiscard]] bool busy() const noexcept { return batches_ != 0; }
    [[nodiscard]] int server_version() const noexcept
    {
        return connection_ ? PQserverVersion(connection_.get()) : 0;
    }

private:
    using duration = std::chrono::steady_clock::duration;

    void resolved(error_code failed, const asio::ip::tcp::resolver::results_type& found);
    void connect_next();
    void poll_connecting();
    void address_failed(trouble why);
    void wait_connecting(asio::posix::stream_descriptor::wait_type what);
    void opened();
    bool watch_socket();
    void read_soon();
    void on_readable();
    void drain();
    void flush();
    void check(bool worked);
    void fail(trouble why);
    void limit(duration time);
    void on_limit();
    [[nodiscard]] trouble here(std::string text) const;
    void take_notice(const PGresult& notice) noexcept;

    const postgres_config& settings_;
    const postgres_config::address at_;
    std::string password_;
    session_user* user_ = nullptr;
    pq_connection connection_;
    asio::posix::stream_descriptor descriptor_;
    asio::ip::tcp::resolver resolver_;
    asio::steady_timer timer_;
    std::vector<std::string> addresses_; ///< Those that are still to be tried.
    std::size_t choices_ = 1;
    unsigned attempt_ = 0;        ///< The number of addresses tried.
    std::string earlier_;         ///< The failures of other addresses.
    std::optional<trouble> said_; ///< The server's reason for the end of the session.
    std::size_t batches_ = 0;     ///< Those without a result.
    bool sent_all_ = true;
    bool open_ = false;
    bool writing_ = false;
    bool failing_ = false;
    bool unreplicated_ = false; ///< The outstanding transaction may be committed here only.
};

} // namespace leasehold::postgres_store

#endif
