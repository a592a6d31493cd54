#ifndef LEASEHOLD_MYSQL_CONFIG_HPP
#define LEASEHOLD_MYSQL_CONFIG_HPP

#include <leasehold/detail/export.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold {

/// A MySQL or MariaDB database and the way to connect to it. Made from a URL, or field by field.
///
///  - `mysql://[user[:password]@]host1[:port][,host2[:port]…]/database`; `mariadb://` is the same
///  - A host that begins with `/` is the path of a local socket. In a URL it is percent-encoded:
///    `mysql://orders@%2Frun%2Fmysqld%2Fmysqld.sock/orders`.
///
/// Query parameters. Percent-encoding is decoded; an unknown parameter is an error.
///  - `durability`: `server` or `full`
///  - `sslmode`: `disable`, `prefer`, `require`, `verify-ca` or `verify-full`; `sslrootcert`,
///    `sslcert` and `sslkey`: files
///  - `password_file`: a file with the password, instead of a password in the URL
///  - `client_info`: `on` or `off`
///  - `fence_retention`: seconds, or `forever`
///  - `timeout`, `health_check`, `reconnect`: milliseconds
struct LEASEHOLD_MYSQL_EXPORT mysql_config
{
    /// The address of a server.
    struct address
    {
        std::string host;          ///< A name, a numeric address, or the path of a local socket.
        std::uint16_t port = 3306; ///< The TCP port.
        /// Compares all members.
        bool operator==(const address&) const = default;
    };

    /// Whether a connection over TCP is encrypted, and which certificates are accepted.
    enum class tls_mode : std::uint8_t
    {
        disable,     ///< Never encrypted.
        prefer,      ///< Encrypted if the server supports it. Not safe against an attacker.
        require,     ///< Encrypted, with any certificate.
        verify_ca,   ///< Encrypted, with a certificate of a trusted authority.
        verify_full, ///< As `verify_ca`, and the certificate names the host.
    };

    /// Which failures must keep a granted lock. A client cannot choose this for its own commits,
    /// because `innodb_flush_log_at_trx_commit` is a setting of the server.
    enum class commit_durability : std::uint8_t
    {
        server, ///< As the server is set.
        full,   ///< Each commit is on the server's disk. A server with another setting is rejected
                ///< with `errc::not_supported`.
    };

    /// One server on this machine, port 3306, database "leasehold".
    mysql_config() = default;

    /// Parses a URL. Implicit, so that a URL can be passed as a config.
    /// @throws boost::system::system_error `errc::invalid_url`; `what()` names the wrong part, its
    ///     value and the allowed values. It never contains a password.
    mysql_config(std::string_view url);
    /// As above.
    mysql_config(const std::string& url) : mysql_config(std::string_view(url)) {}
    /// As above.
    mysql_config(const char* url) : mysql_config(std::string_view(url)) {}

    /// The servers of one replicated database. The store connects to the first that accepts writes,
    /// and skips a server that is read-only.
    std::vector<address> addresses{{"127.0.0.1", 3306}};
    std::string database = "leasehold"; ///< The database in which `mysql_schema` was installed.
    std::string user;                   ///< Empty: the anonymous user of the server.
    std::string password;               ///< Empty: none.

    /// A file with the password, instead of `password`. Read for each connection, without the line
    /// break at its end, so that a secret can be replaced while the program runs. Empty: none.
    ///
    /// If the file cannot be read or is empty, there is no connection, and the store retries after
    /// `reconnect`. If the server rejects the password, the error is `errc::store_refused`, because
    /// a later one may be accepted. A rejected `password` is `errc::permission_denied`.
    std::string password_file;

    commit_durability durability = commit_durability::server; ///< Of a granted lock.

    tls_mode tls = tls_mode::prefer; ///< Whether connections over TCP are encrypted.
    /// A file of trusted certificates in PEM form. Empty: those of the system.
    std::string tls_ca_file;
    std::string tls_cert_file; ///< A file with the client's certificate in PEM form. Empty: none.
    std::string tls_key_file;  ///< The key of `tls_cert_file` in PEM form, without a password.

    /// Timeout of one attempt to connect, and of one batch of requests. If it passes, the
    /// connection is closed. Range: 10 ms to 10 min.
    std::chrono::milliseconds timeout{5'000};
    /// Time without data after which the connection for grants is checked. Range: 10 ms to 10 min.
    std::chrono::milliseconds health_check{2'000};
    /// Pause before a reconnect, after each server was tried once. Each pause is random, from half
    /// to one and a half of this time. Range: 1 ms to 10 min.
    std::chrono::milliseconds reconnect{250};

    /// `fence_retention` for rows that are never deleted.
    static constexpr std::chrono::milliseconds forever{0};
    /// Time for which the row of a name is kept after the lock was last held. `forever`, or 1 s to
    /// 10 years. A new row continues with a larger fence, unless the server's clock steps back by
    /// more than this time.
    std::chrono::milliseconds fence_retention = std::chrono::hours(24);

    /// Whether each client publishes its host, process, program, start and version for operators
    /// who inspect a lock.
    bool client_info = true;

    /// Checks every field. Called by each function that takes a config.
    /// @throws boost::system::system_error `errc::invalid_option`; `what()` names the field, its
    ///     value, and the allowed values.
    void validate() const;
};

/// Parses a URL, as the constructor of `mysql_config` does.
[[nodiscard]] inline mysql_config parse_mysql_url(std::string_view url)
{
    return mysql_config(url);
}

} // namespace leasehold

#endif
