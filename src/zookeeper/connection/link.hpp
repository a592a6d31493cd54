#ifndef LEASEHOLD_SRC_ZOOKEEPER_CONNECTION_LINK_HPP
#define LEASEHOLD_SRC_ZOOKEEPER_CONNECTION_LINK_HPP

#include "session_store/stream.hpp"
#include "zookeeper/protocol/errors.hpp"

#include <leasehold/error.hpp>
#include <leasehold/zookeeper_config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace leasehold::zookeeper_store {

namespace asio = boost::asio;

/// Notified about a link, on its strand, never inside a call of the link.
class link_user
{
public:
    virtual void on_open() = 0;
    /// The content of a frame. The views are valid during the call.
    virtual void on_frame(std::string_view content) = 0;
    /// The attempt to connect failed, or the connection ended. The last call.
    virtual void on_closed(const trouble& why) = 0;

protected:
    ~link_user() = default;
};

/// One connection to one server, from the attempt until its end: frames over TCP or TLS. All on one
/// strand.
class link final : public std::enable_shared_from_this<link>
{
public:
    /// @param limit Of the attempt to connect, for all addresses of the host.
    link(const asio::any_io_executor& strand, const zookeeper_config& settings,
         const zookeeper_config::address& at, std::chrono::milliseconds limit);

    /// Begins to connect. `user` is valid until `close` or `on_closed`.
    void open(link_user& user);

    /// Sends a frame. Those of one turn of the strand are sent together.
    void send(std::string_view content);

    /// The number of frames that were given to the operating system, perhaps in part.
    [[nodiscard]] std::uint64_t frames_sent() const noexcept { return frames_sent_; }

    /// Ends the connection with this text, soon.
    void fail(std::string text);

    /// Ends the connection. The user gets no more calls.
    void close() noexcept;

    /// The same after a last frame was sent. Waits for a short time until the server closes.
    void close_after(std::string_view content);

private:
    void opened();
    void read_soon();
    void take_frames();
    void flush();
    void end(const std::string& text);

    const std::shared_ptr<session_store::stream> stream_;
    const std::chrono::milliseconds limit_;
    link_user* user_ = nullptr;
    asio::steady_timer timer_; ///< Of the wait for the server's end.
    bool open_ = false;
    bool ending_ = false;

    std::array<char, 16 * 1024> chunk_;
    std::string received_;
    std::string pending_; ///< Frames that were not given to the operating system.
    std::string sending_;
    std::uint64_t frames_ = 0;
    std::uint64_t frames_sent_ = 0;
    bool writing_ = false;
    bool flush_posted_ = false;
};

} // namespace leasehold::zookeeper_store

#endif
