#ifndef LEASEHOLD_POSTGRES_CONFIG_HPP
#define LEASEHOLD_POSTGRES_CONFIG_HPP

#include <leasehold/detail/export.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold {

/// A PostgreSQL database and the way to connect to it. Made from a URL, or field by field.
///
///  - `postgres://[user[:password]@]host1[:port][,host2[:port]…][/database]`; `postgresql://` is
///    the same
///  - A host that begins with `/` is the directory of a local socket. In a URL it is
///    percent-encoded: `postgres://%2Fvar%2Frun%2Fpostgresql/database`.
///
/// Query parameters. Percent-encoding is decoded; an unknown parameter is an error.
///  - `schema`: the schema that contains the tables and functions of the locks
///  - `durability`: `full`, `local` or `relaxed`
///  - `sslmode`: `disable`, `prefer`, `require`, `verify-ca` or `verify-full`; `sslrootcert`,
///    `sslcert` and `sslkey`: files
///  - `password_file`: a file with the password, instead of a password in the URL
///  - `application_name`; `client_info` (`on`, `off`)
///  - `fence_retention`: seconds, or `forever`
///  - `timeout`, `health_check`, `reconnect`: milliseconds
struct LEASEHOLD_POSTGRES_EXPORT postgres_config
{
    /// The address of a server.
    struct address
    {
        std::string host; ///< A name, a numeric address, or the directory of a local socket.
        std::uint16_t port = 5432; ///< The TCP port; also a part of the name of a local socket.
        /// Compares all members.
        bool operator==(const address&) const = default;
    };

    /// Whether a connection is encrypted, and which certificates are accepted: `sslmode` of libpq.
    enum class tls_mode : std::uint8_t
    {
        disable,     ///< Never encrypted.
        prefer,      ///< Encrypted if the server supports it. Not safe against an attacker.
        require,     ///< Encrypted, with any certificate.
        verify_ca,   ///< Encrypted, with a certificate of a trusted authority.
        verify_full, ///< As `verify_ca`, and the certificate names the host.
    };

    /// Which failures keep a granted lock: `synchronous_commit` of the server.
    enum class commit_durability : std::uint8_t
    {
        full,    ///< `on`: a grant is on disk, and also on the synchronous standbys, if there are
                 ///< any.
        local,   ///< `local`: a grant is on the disk of the primary.
        relaxed, ///< `off`: a crash of the server may lose the grants of about the last second.
    };

    /// One server on this machine, port 5432.
    postgres_config() = default;

    /// Parses a URL. Implicit, so that a URL can be passed as a config.
    /// @throws boost::system::system_error `errc::invalid_url`; `what()` names the wrong part, its
    ///     value and the allowed values. It never contains a password.
    postgres_config(std::string_view url);
    /// As above.
    postgres_config(const std::string& url) : postgres_config(std::string_view(url)) {}
    /// As above.
    postgres_config(const char* url) : postgres_config(std::string_view(url)) {}

    /// The servers of one cluster: a primary and its standbys. The store connects to the first that
    /// accepts writes, and skips a server that is read-only.
    std::vector<address> addresses{{"127.0.0.1", 5432}};
    std::string database; ///< Empty: the default of libpq, which is the name of the user.
    std::string user;     ///< Empty: the default of libpq: `PGUSER`, or the user of the process.
    std::string password; ///< Empty: the default of libpq: `PGPASSWORD`, or its password file.

    /// A file with the password, instead of `password`. Read for each connection, without the line
    /// break at its end, so that a secret can be replaced while the program runs. Empty: none.
    ///
    /// If the file cannot be read or is empty, there is no connection, and the store retries after
    /// `reconnect`. If the server rejects the password, the error is `errc::store_refused`, because
    /// a later one may be accepted. A rejected `password` is `errc::permission_denied`.
    std::string password_file;

    /// The schema that contains the tables and functions of the locks. `postgres_schema` installs
    /// them there.
    std::string schema = "leasehold";
    /// Which failures keep a granted lock. All clients of a name should use the same.
    commit_durability durability = commit_durability::full;

    tls_mode tls = tls_mode::prefer; ///< Whether connections over TCP are encrypted.
    /// A file of trusted certificates in PEM form. Empty: the default of libpq,
    /// `~/.postgresql/root.crt`. `system` means those of the system, from libpq 16 on.
    std::string tls_ca_file;
    std::string tls_cert_file; ///< A file with the client's certificate in PEM form. Empty: none.
    std::string tls_key_file;  ///< The key of `tls_cert_file` in PEM form, without a password.

    /// The name of the connections in `pg_stat_activity`.
    std::string application_name = "leasehold";

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

/// Parses a URL, as the constructor of `postgres_config` does.
[[nodiscard]] inline postgres_config parse_postgres_url(std::string_view url)
{
    return postgres_config(url);
}

} // namespace leasehold

#endif
