#ifndef LEASEHOLD_ETCD_CONFIG_HPP
#define LEASEHOLD_ETCD_CONFIG_HPP

#include <leasehold/detail/export.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold {

/// The members of an etcd cluster and the way to connect to them. Made from a URL, or field by
/// field.
///
///  - `etcd://[user:password@]host1[:port][,host2[:port]…][/root]`
///
/// Query parameters. Percent-encoding is decoded; an unknown parameter is an error.
///  - `session`: milliseconds
///  - `tls` (`on`, `off`); with `on`: `ca`, `cert` and `key` (files), `verify` (`full`, `none`)
///  - `password_file`: a file with the password, instead of a password in the URL
///  - `client_info` (`on`, `off`)
///  - `timeout`, `reconnect`: milliseconds
struct LEASEHOLD_ETCD_EXPORT etcd_config
{
    /// The address of a member, for clients.
    struct address
    {
        std::string host;          ///< A name or a numeric address.
        std::uint16_t port = 2379; ///< The TCP port.
        /// Compares all members.
        bool operator==(const address&) const = default;
    };

    /// One server on this machine, port 2379.
    etcd_config() = default;

    /// Parses a URL. Implicit, so that a URL can be passed as a config.
    /// @throws boost::system::system_error `errc::invalid_url`; `what()` names the wrong part, its
    ///     value and the allowed values. It never contains a password.
    etcd_config(std::string_view url);
    /// As above.
    etcd_config(const std::string& url) : etcd_config(std::string_view(url)) {}
    /// As above.
    etcd_config(const char* url) : etcd_config(std::string_view(url)) {}

    /// The members of one cluster. The store begins with a random one, and continues its session at
    /// the next one after a failure.
    std::vector<address> addresses{{"127.0.0.1", 2379}};
    /// The beginning of all keys, without the `/` that follows it: `app/locks`. The path of a URL
    /// without its first `/`. Empty: the keys begin with the name of the lock.
    std::string root;

    std::string user;     ///< A user of etcd. Empty: none.
    std::string password; ///< The password of `user`.
    /// A file with the password, instead of `password`. Read for each connection, without the line
    /// break at its end. Empty: none. If the file cannot be read or is empty, there is no
    /// connection, and the store retries after `reconnect`.
    std::string password_file;

    /// The TTL of the client's lease in etcd, rounded up to whole seconds. When a process is killed
    /// or paused, its locks are free for others after this time. The server may extend it.
    ///
    /// A shorter TTL than 5 s does not outlast the election of a leader. Range: 2 s to 5 min.
    std::chrono::milliseconds session{10'000};

    bool tls = false;          ///< Encrypt the connections.
    bool tls_verify = true;    ///< Check the certificate of the server, and its name.
    std::string tls_ca_file;   ///< A file of trusted certificates in PEM form. Empty: the system's.
    std::string tls_cert_file; ///< A file with the client's certificate in PEM form. Empty: none.
    std::string tls_key_file;  ///< The key of `tls_cert_file` in PEM form, without a password.

    /// Timeout of one attempt to connect, and of a reply. At most a third of the session is used,
    /// so that there is time for another member. Range: 10 ms to 10 min.
    std::chrono::milliseconds timeout{2'000};
    /// Pause before a reconnect, after each member was tried once. Each pause is random, from half
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

/// Parses a URL, as the constructor of `etcd_config` does.
[[nodiscard]] inline etcd_config parse_etcd_url(std::string_view url)
{
    return etcd_config(url);
}

} // namespace leasehold

#endif
