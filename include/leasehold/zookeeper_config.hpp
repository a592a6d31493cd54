#ifndef LEASEHOLD_ZOOKEEPER_CONFIG_HPP
#define LEASEHOLD_ZOOKEEPER_CONFIG_HPP

#include <leasehold/detail/export.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold {

/// The servers of a ZooKeeper ensemble and the way to connect to them. Made from a URL, or field by
/// field.
///
///  - `zookeeper://[user:password@]host1[:port][,host2[:port]…][/root]`
///
/// Query parameters. Percent-encoding is decoded; an unknown parameter is an error.
///  - `session`, `tick`: milliseconds
///  - `tls` (`on`, `off`); with `on`: `ca`, `cert` and `key` (files), `verify` (`full`, `none`)
///  - `password_file`: a file with the password, instead of a password in the URL
///  - `client_info` (`on`, `off`)
///  - `timeout`, `reconnect`: milliseconds
struct LEASEHOLD_ZOOKEEPER_EXPORT zookeeper_config
{
    /// The address of a server.
    struct address
    {
        std::string host;          ///< A name or a numeric address.
        std::uint16_t port = 2181; ///< The TCP port.
        /// Compares all members.
        bool operator==(const address&) const = default;
    };

    /// One server on this machine, port 2181.
    zookeeper_config() = default;

    /// Parses a URL. Implicit, so that a URL can be passed as a config.
    /// @throws boost::system::system_error `errc::invalid_url`; `what()` names the wrong part, its
    ///     value and the allowed values. It never contains a password.
    zookeeper_config(std::string_view url);
    /// As above.
    zookeeper_config(const std::string& url) : zookeeper_config(std::string_view(url)) {}
    /// As above.
    zookeeper_config(const char* url) : zookeeper_config(std::string_view(url)) {}

    /// The servers of one ensemble. The store begins with a random one, and continues its session
    /// at the next one after a failure.
    std::vector<address> addresses{{"127.0.0.1", 2181}};
    /// The node that contains the locks, as `/app/locks`. Empty: they are at the top. Missing nodes
    /// are created.
    std::string root;

    std::string user;     ///< The user of the scheme `digest`. Empty: none.
    std::string password; ///< The password of `user`.
    /// A file with the password, instead of `password`. Read for each connection, without the line
    /// break at its end. Empty: none. If the file cannot be read or is empty, there is no
    /// connection, and the store retries after `reconnect`.
    std::string password_file;

    /// The requested session timeout. When a process is killed or paused, its locks are free for
    /// others after this time. The server may shorten or extend it, usually to 2 to 20 of its
    /// ticks. At least 4 `tick`.
    ///
    /// A lease is shorter by up to a third, see `tick`. Range: 100 ms to 10 min.
    std::chrono::milliseconds session{10'000};
    /// The `tickTime` of the servers, or longer. A follower passes the pings of a client on to the
    /// leader in each half of it, so this time limits how long a client can know that its session
    /// lives. If it is shorter than the `tickTime` of the servers, two clients may hold one lock.
    /// Range: 10 ms to 1 min.
    std::chrono::milliseconds tick{2'000};

    bool tls = false;          ///< Encrypt the connections: the `secureClientPort` of the servers.
    bool tls_verify = true;    ///< Check the certificate of the server, and its name.
    std::string tls_ca_file;   ///< A file of trusted certificates in PEM form. Empty: the system's.
    std::string tls_cert_file; ///< A file with the client's certificate in PEM form. Empty: none.
    std::string tls_key_file;  ///< The key of `tls_cert_file` in PEM form, without a password.

    /// Timeout of one attempt to connect, and of a reply. At most a third of the session timeout is
    /// used, so that there is time for another server. Range: 10 ms to 10 min.
    std::chrono::milliseconds timeout{2'000};
    /// Pause before a reconnect, after each server was tried once. Each pause is random, from half
    /// to one and a half of this time. Range: 1 ms to 10 min.
    std::chrono::milliseconds reconnect{250};

    /// Whether each client publishes its host, process, program, start and version for operators
    /// who inspect a lock.
    bool client_info = true;

    /// Checks every field. Called by each function that takes a config.
    /// @throws boost::system::system_error `errc::invalid_option`; `what()` names the field, its
    ///     value, and the allowed values.
    void validate() const;
};

/// Parses a URL, as the constructor of `zookeeper_config` does.
[[nodiscard]] inline zookeeper_config parse_zookeeper_url(std::string_view url)
{
    return zookeeper_config(url);
}

} // namespace leasehold

#endif
