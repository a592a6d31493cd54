#ifndef LEASEHOLD_REDIS_CONFIG_HPP
#define LEASEHOLD_REDIS_CONFIG_HPP

#include <leasehold/detail/export.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold {

/// A deployment of Redis or Valkey and the way to connect to it. Made from a URL, or field by
/// field.
///
///  - `redis://[user:password@]host[:port][/db]`: one Redis 6.2 or newer, or Valkey
///  - `rediss://…`: the same over TLS
///  - `unix:///path/to/socket[?db=n]`: the same over a local socket
///  - `redis+sentinel://[user:password@]h1[:port],h2[:port]/master[/db]`: the master that the
///    Sentinels name; `rediss+sentinel://…`: Sentinels and masters over TLS
///  - `redis+cluster://[user:password@]h1[:port],h2[:port]…`: a Redis Cluster; any of these nodes
///    names the others; `rediss+cluster://…`: the same over TLS
///  - `redlock://[user:password@]h1[:port],h2[:port],h3[:port]…[/db]`: 3, 5, 7 or 9 independent
///    masters; a quorum of them must grant each lock; `rediss+redlock://…`: the same over TLS
///  - `valkey` and `valkeys` for `redis` and `rediss`
///
/// Query parameters. Percent-encoding is decoded; an unknown parameter is an error.
///  - `timeout`, `health_check`, `reconnect` (milliseconds), `client_info` (`on`, `off`), and
///    `layout` (`native`, `redisson`; on `redlock:` `quorum` instead)
///  - `password_file` (a file with the password, instead of a password in the URL)
///  - `prefix` (of all keys and channels; not with `layout=redisson`)
///  - `redlock:`, `layout=redisson`: `fence_retention` (seconds, or `forever`)
///  - over TLS: `ca` (a file of trusted certificates; default: the system's), `cert` and `key`
///    (files of a client certificate and its key), `verify` (`full`, `none`; default `full`)
///  - with Sentinel: `sentinel_user`, `sentinel_password`, `sentinel_password_file`
struct LEASEHOLD_REDIS_EXPORT redis_config
{
    /// The kinds of deployments.
    enum class deployment : std::uint8_t
    {
        server,   ///< One server.
        sentinel, ///< The master that Sentinels name.
        cluster,  ///< The shards of a Redis Cluster.
        quorum,   ///< Independent masters: `redlock:`.
    };

    /// The address of a server.
    struct address
    {
        std::string host;          ///< A name, or a numeric address.
        std::uint16_t port = 6379; ///< The TCP port.
        /// Compares all members.
        bool operator==(const address&) const = default;
    };

    /// A server that is reached at another address than the announced one: a node of a cluster, or
    /// a master or Sentinel that Sentinels name. Reasons are a gateway, and a certificate with
    /// another name.
    struct mapped_address
    {
        address announced; ///< Port 0: each port of that host.
        address reached;   ///< Port 0: the announced port.
        /// Compares all members.
        bool operator==(const mapped_address&) const = default;
    };

    /// A user and a password for a server.
    struct credentials
    {
        std::string user;     ///< Empty: the default user.
        std::string password; ///< Empty, without a user: no AUTH.
    };

    /// Returns the credentials for a connection that is made now: see `credentials_source`.
    using get_credentials = std::function<credentials()>;

    /// `fence_retention` for fence counters that never expire.
    static constexpr std::chrono::milliseconds forever{0};

    /// One Redis on this machine, port 6379.
    redis_config() = default;

    /// Parses a URL. Implicit, so that a URL can be passed as a config.
    /// @throws boost::system::system_error `errc::invalid_url`; `what()` names the wrong part, its
    ///     value and the allowed values. It never contains a password.
    redis_config(std::string_view url);
    /// As above.
    redis_config(const std::string& url) : redis_config(std::string_view(url)) {}
    /// As above.
    redis_config(const char* url) : redis_config(std::string_view(url)) {}

    deployment kind = deployment::server; ///< The kind of deployment: the scheme of the URL.
    /// The server, the Sentinels, the first nodes of the cluster, or all members.
    std::vector<address> addresses{{"127.0.0.1", 6379}};
    /// Cluster and Sentinel: the first match applies. Other servers are reached as announced.
    /// `addresses` are not mapped.
    std::vector<mapped_address> address_map{};
    std::string unix_socket;       ///< If not empty, used instead of `addresses`.
    std::string user;              ///< Empty: the default user.
    std::string password;          ///< Empty: no AUTH.
    std::uint32_t database = 0;    ///< 0 in a cluster.
    std::string master;            ///< Sentinel: the name of the master.
    std::string sentinel_user;     ///< The user at the Sentinels. Empty: the default user.
    std::string sentinel_password; ///< The password at the Sentinels. Empty: no AUTH.

    /// A file with the password, instead of `password`. Read for each connection, without the line
    /// break at its end, so that a secret can be replaced while the program runs. Empty: none.
    ///
    /// If the file cannot be read or is empty, there is no connection, and the client retries after
    /// `reconnect`. Connections continue when the file changes: the server does not end them when a
    /// password changes.
    ///
    /// If the server rejects the password, the error is `errc::store_refused`, because a later one
    /// may be accepted: an operation that waits continues to wait, and a lease is renewed until its
    /// deadline. A rejected `password` is `errc::permission_denied`.
    std::string password_file;
    /// A function that returns the credentials, instead of `user`, `password` and `password_file`,
    /// for example a token that expires. As for `password_file`, it is called for each connection,
    /// and a rejection is `errc::store_refused`.
    ///
    /// An exception is the reason why there is no connection; `diagnostics::connection_error` shows
    /// its `what()`. The function is called on the strand of the client and delays its renewals, so
    /// it must return in a few milliseconds. Several clients with copies of this config may call it
    /// at the same time. It must not use the client. Empty: none.
    get_credentials credentials_source;
    std::string sentinel_password_file;          ///< As `password_file`, for the Sentinels.
    get_credentials sentinel_credentials_source; ///< As `credentials_source`, for the Sentinels.

    /// Quorum: the number q of the N members that must grant a lock and accept its fence. 0: a
    /// majority, N/2 + 1. Range: a majority to N.
    ///
    /// | N | q | may be down | may lose their data while fences stay unique and in order |
    /// |---|---|---|---|
    /// | 3 | 2 | 1 | 0 |
    /// | 3 | 3 | 0 | 2 |
    /// | 5 | 3 | 2 | 0 |
    /// | 5 | 4 | 1 | 2 |
    /// | 5 | 5 | 0 | 4 |
    /// | 7 | 4 | 3 | 0 |
    /// | 7 | 5 | 2 | 2 |
    ///
    /// In general N - q and 2q - N - 1. The reason: a fence is granted when q members have accepted
    /// it, and a member accepts only a larger fence than all before. Two grants share at least 2q -
    /// N members. If one of these has kept its data, the later grant has the larger fence. Clocks,
    /// TTLs and delays have no influence.
    ///
    /// The client detects a member that was restarted or emptied. The member grants no lock until
    /// the longest lease time that was requested has passed, and a majority of the other members
    /// has reported its fences. So the number above counts members that lose data *at the same
    /// time*. If there is no such majority, the member stays out: see `docs/choosing/quorum.md`.
    /// The first start needs all members.
    std::uint32_t quorum = 0;

    bool tls = false; ///< Encrypt the connections: `rediss:` and the other schemes with `rediss`.
    /// Verify the server's certificate and its host name. Behind Sentinel, the name is the address
    /// of the master that the Sentinels report.
    bool tls_verify = true;
    /// A file of trusted certificates in PEM form, read for each connection. Empty: those of the
    /// system.
    std::string tls_ca_file;
    /// A file with the client's certificate and its chain in PEM form, for servers that request
    /// one. Read for each connection. Empty: none.
    std::string tls_cert_file;
    std::string tls_key_file; ///< The key of `tls_cert_file` in PEM form, without a password.

    /// Timeout of one attempt to connect, and of one command. Range: 10 ms to 10 min. Of several
    /// Sentinels, the next one is queried earlier: see `docs/choosing/deployments.md`.
    std::chrono::milliseconds timeout{5'000};
    /// Time without data after which a connection is checked. It is closed after the same time
    /// without a reply. Range: 10 ms to 10 min.
    std::chrono::milliseconds health_check{2'000};
    /// Pause before a reconnect. Each pause is random, from half to one and a half of this time, so
    /// that clients of a failed server do not all return at once. Range: 1 ms to 10 min.
    std::chrono::milliseconds reconnect{250};
    /// The form of the locks in keys. All clients of a name must use the same. A client that finds
    /// keys of the other layout reports `errc::wrong_type`.
    enum class key_layout : std::uint8_t
    {
        native, ///< A string and a queue: cheap for the server, and in order. Excludes clients that
                ///< lock the name with `SET name value NX PX`.
        redisson, ///< As Redisson, byte for byte: shares names with Java services.
    };
    key_layout layout = key_layout::native; ///< The form of the locks in keys.

    /// The prefix of every key and channel of the library, for example `app:`. Several tenants then
    /// share a server: a user with `~app:* &app:*` can use all locks of this prefix and no others.
    /// The key of the lock `stock` is `app:stock`. Its name stays `stock` in the program, in errors
    /// and for observers; only texts of a server contain the key. Fences are drawn for each prefix.
    ///
    /// All clients of a name must use the same prefix. No prefix may begin with the prefix of
    /// another tenant: with `a` and `ab`, the lock `bx` of the first is the lock `x` of the second.
    /// For the same reason, clients without a prefix must not use names that begin with one.
    ///
    /// Range: at most 64 printable ASCII characters, without spaces and `*?[]{}\`. It neither
    /// begins with `leasehold:` nor is its beginning. Empty with `layout=redisson`: Redisson knows
    /// no prefix, so use names that begin with it. Default: empty.
    std::string prefix;

    /// Time for which the fence counter of a name is kept after the last grant. Only with
    /// `layout=redisson` and with a quorum. `forever`, or 1 s to 10 years. With `forever`, names
    /// can be shared with Redisson's fenced locks. Until then a name costs the server 145 bytes.
    std::chrono::milliseconds fence_retention = std::chrono::hours(24);

    /// Whether each client of a Redis store publishes a hash `leasehold:client:<client::id>` for
    /// people who inspect a lock: host, pid, program, since (ms since 1970), version. Its TTL is
    /// ten minutes, or three lease times if that is longer. After a third of it, the next request
    /// writes the hash again. If a server rejects it, it is not retried on that connection.
    /// `redlock:` writes it to each member.
    bool client_info = true;

    /// Checks every field. Called by each function that takes a config.
    /// @throws boost::system::system_error `errc::invalid_option`; `what()` names the field, its
    ///     value, and the allowed values.
    void validate() const;
};

} // namespace leasehold

#endif
