#ifndef LEASEHOLD_SRC_REDIS_CONNECTION_DIALER_HPP
#define LEASEHOLD_SRC_REDIS_CONNECTION_DIALER_HPP

#include <leasehold/error.hpp>
#include <leasehold/redis_config.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/redis/config.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::redis_store {

/// Settings and history of the attempts to connect: the order of the addresses, the TLS settings,
/// and the reason why the last attempt failed.
class dialer
{
public:
    using endpoint = boost::asio::ip::tcp::endpoint;
    using duration = std::chrono::steady_clock::duration;

    explicit dialer(const redis_config& settings) : settings_(settings) {}

    /// An attempt begins at the local socket.
    void begin();
    /// An attempt begins.
    /// @param named The server in the settings, or one that a Sentinel names.
    /// @return The address to use, valid until the next attempt.
    const boost::redis::address& begin(const boost::redis::address& named);

    /// The host of this attempt.
    [[nodiscard]] const std::string& host() const noexcept { return reached_.host; }

    /// The addresses in the order of the attempts: first those that answered before, the last of
    /// them first; then the others; then those that accepted a connection and did not answer.
    [[nodiscard]] std::vector<endpoint> in_order(
        const boost::asio::ip::tcp::resolver::results_type& found) const;

    /// One of `of` addresses has accepted the connection.
    void accepted(const endpoint& at, std::size_t of);

    /// If several addresses share the time, the rest for the one that has accepted.
    [[nodiscard]] std::optional<duration> share(duration limit) const
    {
        return choices_ > 1 ? std::optional(limit / static_cast<int>(choices_)) : std::nullopt;
    }

    /// The server has sent its first bytes; called once in each attempt.
    void answered();

    /// Read for each attempt, because files change while the program runs.
    /// @throws boost::system::system_error The files cannot be read.
    [[nodiscard]] boost::asio::ssl::context tls() const;
    [[nodiscard]] bool verifies() const noexcept { return settings_.tls_verify; }

    // The reason why the attempt failed.
    void no_address(error_code why);
    void not_connected(error_code why);
    void not_secured(std::string why);

    /// Takes the errors of the Sentinels from a text that the connection logs.
    void hear(std::string_view text);

    /// The reason why the last run of the connection ended, as text. Empty: unknown.
    [[nodiscard]] std::string trouble(error_code ended) const;

private:
    const redis_config settings_;
    std::vector<endpoint> good_;   ///< They answered; the last one last.
    std::vector<endpoint> silent_; ///< They accepted, and did not answer; the last one last.
    std::optional<endpoint> at_;   ///< The address of the connection. Empty: no address.
    std::size_t choices_ = 0;      ///< The number of addresses.
    bool answered_ = false;
    boost::redis::address reached_;
    std::string where_;     ///< It as text.
    std::string failure_;   ///< The failure of this attempt, until there is a connection.
    std::string sentinels_; ///< Their errors, if none named the master.
};

} // namespace leasehold::redis_store

#endif
