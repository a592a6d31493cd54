#ifndef LEASEHOLD_SRC_ETCD_CONNECTION_STREAM_HPP
#define LEASEHOLD_SRC_ETCD_CONNECTION_STREAM_HPP

#include <leasehold/error.hpp>
#include <leasehold/etcd_config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::etcd_store {

namespace asio = boost::asio;

/// A connection to one server over TCP or TLS, from the attempt until its end. All on one strand.
class stream final : public std::enable_shared_from_this<stream>
{
public:
    /// @param failure Empty: the connection is open.
    using opened_handler = std::function<void(const std::string& failure)>;

    stream(const asio::any_io_executor& strand, const etcd_config& settings,
           etcd_config::address at);

    /// Connects. The handler is not called after `close`.
    /// @param limit Of the attempt, for all addresses of the host.
    void open(std::chrono::milliseconds limit, opened_handler handler);

    /// Ends the connection, and what uses it.
    void close() noexcept;

    /// Calls a function with the layer that reads and writes.
    template <class Use>
    void on_layer(Use use)
    {
        if (tls_)
            use(*tls_);
        else
            use(socket_);
    }
    using tls_layer = asio::ssl::stream<asio::ip::tcp::socket&>;
    [[nodiscard]] asio::ip::tcp::socket& socket() noexcept { return socket_; }
    [[nodiscard]] bool is_encrypted() const noexcept { return tls_.has_value(); }

    /// The address of the server, as a client names it.
    [[nodiscard]] std::string server() const;

private:
    void connect_next();
    void secure();
    void limit(std::chrono::steady_clock::duration time, const char* text);
    void address_failed(const std::string& text);
    void finish(const std::string& failure);

    const etcd_config& settings_;
    const etcd_config::address at_;
    std::chrono::milliseconds limit_{};
    opened_handler handler_;
    asio::ip::tcp::socket socket_;
    std::optional<asio::ssl::context> context_;
    std::optional<tls_layer> tls_;
    asio::ip::tcp::resolver resolver_;
    asio::steady_timer timer_;
    std::vector<asio::ip::tcp::endpoint> endpoints_; ///< Those that are still to be tried.
    std::size_t choices_ = 1;
    std::string earlier_;     ///< The failures of other addresses.
    bool other_host_ = false; ///< The certificate is for another host.
};

/// The reason why a connection ended, as text.
[[nodiscard]] std::string text_of_end(error_code why);

} // namespace leasehold::etcd_store

#endif
