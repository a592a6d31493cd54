#ifndef LEASEHOLD_CONFIG_HPP
#define LEASEHOLD_CONFIG_HPP

#include <leasehold/detail/export.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold {

/// Where the locks are kept and how to get there. Made from a URL, or field by field.
///
///  - `redis://[user:password@]host[:port][/db]`: one Redis >= 6.2 or Valkey >= 7.2
///  - `rediss://…`: the same over TLS
///  - `unix:///path/to/socket[?db=n]`: the same over a local socket
///  - `redis+sentinel://[user:password@]h1[:port],h2[:port]/master[/db]`: the master that the
///    Sentinels name
///  - `redis+cluster://[user:password@]h1[:port],h2[:port]…`: a Redis Cluster, of which any node
///    that can be reached names the others; `rediss+cluster://…`: the same over TLS
///  - `redlock://[user:password@]h1[:port],h2[:port],h3[:port]…[/db]`: 3, 5, 7 or 9 independent
///    masters, of which a quorum has to grant each lock
///  - `memory:[name]`: this process; clients that give the same name share their locks
///
/// Query parameters: `timeout`, `health_check`, `reconnect` (milliseconds), `client_info` (`on`,
/// `off`), `layout` (`native`, `redisson`), but not on `memory:`; on `memory:` and with
/// `layout=redisson` `fence_retention` (seconds, or `forever`), which `redlock:` takes too, and
/// `quorum` instead of `layout`; on `rediss:` and `rediss+cluster:` also `ca` (a file of trusted
/// certificates; default: the system's) and `verify` (`full`, `none`; default `full`); on
/// `redis+sentinel:` also `sentinel_user`, `sentinel_password`. Percent-encoding is decoded. A
/// parameter that is not known is an error.
struct LEASEHOLD_EXPORT config
{
    /// What keeps the locks.
    enum class kind : std::uint8_t
    {
        redis,    ///< One Redis or Valkey server.
        sentinel, ///< The master that Sentinels name.
        memory,   ///< This process.
        cluster,  ///< The shards of a Redis Cluster.
        redlock,  ///< A quorum of independent masters.
    };

    /// Where a server listens.
    struct address
    {
        std::string host;          ///< A name, or a numeric address.
        std::uint16_t port = 6379; ///< The TCP port.
        /// Compares all members.
        bool operator==(const address&) const = default;
    };

    /// A node of a cluster that is to be reached at another address than the one it announces,
    /// because there is a gateway in between, or its certificate has another name.
    struct mapped_address
    {
        address announced; ///< Port 0: each port of that host.
        address reached;   ///< Port 0: the port that is announced.
        /// Compares all members.
        bool operator==(const mapped_address&) const = default;
    };

    /// `fence_retention` for locks whose fence counter must never expire.
    static constexpr std::chrono::milliseconds forever{0};

    /// One Redis on this machine, port 6379.
    config() = default;

    /// Parses a URL. Implicit, so that a URL can stand where a config is asked for.
    /// @throws boost::system::system_error `errc::invalid_url`; its `what()` names the part that is
    /// wrong, what it was, and what is allowed. A
    ///         password is never shown.
    config(std::string_view url);
    /// As above.
    config(const std::string& url) : config(std::string_view(url)) {}
    /// As above.
    config(const char* url) : config(std::string_view(url)) {}

    kind store = kind::redis; ///< What keeps the locks: the scheme of the URL.
    /// One server, the Sentinels, nodes of the cluster to begin with, or all members.
    std::vector<address> addresses{{"127.0.0.1", 6379}};
    /// Cluster: the first that fits is taken. What is not named here is reached as announced.
    std::vector<mapped_address> address_map{};
    std::string unix_socket;       ///< If not empty, used instead of `addresses`.
    std::string user;              ///< Empty: the default user.
    std::string password;          ///< Empty: no AUTH.
    std::uint32_t database = 0;    ///< A cluster has no other than 0.
    std::string master;            ///< Sentinel: the name of the master.
    std::string sentinel_user;     ///< Sentinel: empty: the default user of the Sentinels.
    std::string sentinel_password; ///< Sentinel: empty: no AUTH at the Sentinels.
    std::string memory_name;       ///< `memory:` the name of the space.

    /// Redlock: how many of the N members, q, have to grant a lock and accept its fence; 0: a
    /// majority, N/2 + 1. From that to N.
    ///
    /// | N | q | may be down | may lose their data, and no fence is given out twice or too late |
    /// |---|---|---|---|
    /// | 3 | 2 | 1 | 0 |
    /// | 3 | 3 | 0 | 2 |
    /// | 5 | 3 | 2 | 0 |
    /// | 5 | 4 | 1 | 2 |
    /// | 5 | 5 | 0 | 4 |
    /// | 7 | 4 | 3 | 0 |
    /// | 7 | 5 | 2 | 2 |
    ///
    /// In general N - q and 2q - N - 1. Why: a fence is given out when q members have accepted it,
    /// and a member accepts only what is larger than all before. Two grants share at least 2q - N
    /// members; as long as one of these has not lost what it accepted, the later grant has the
    /// larger fence. Clocks, times to live and delays do not appear in this.
    ///
    /// A member that was restarted or emptied is noticed, and grants nothing until the longest
    /// lease that it may have granted is over and a majority of the others has told from where on
    /// its fences may go on; so the number above is of members that lose their data *at the same
    /// time*. When no majority of others is left, it stays out: `docs/choosing/quorum.md` says what
    /// can be done then. The first start needs all members.
    std::uint32_t quorum = 0;

    bool tls = false;       ///< Encrypt the connections: `rediss:`, `rediss+cluster:`.
    bool tls_verify = true; ///< Check the server's certificate and that it is the host's.
    /// Trusted certificates, read for each connection. Empty: those of the system.
    std::string tls_ca_file;

    /// How long one attempt to connect, or one command, may take. 10 ms … 10 min.
    std::chrono::milliseconds timeout{5'000};
    /// A connection that is silent for this long is asked, and closed when it stays silent as long
    /// again. 10 ms … 10 min.
    std::chrono::milliseconds health_check{2'000};
    /// The pause before a connection is made again; each takes between half and one and a half of
    /// it, by chance, so that those who lost a server together do not all come back at once.
    /// 1 ms … 10 min.
    std::chrono::milliseconds reconnect{250};
    /// How locks are kept in keys. All clients of a name have to use the same: whoever finds the
    /// keys of the other is told `errc::wrong_type`.
    enum class key_layout : std::uint8_t
    {
        native,   ///< A string and a line of those who wait: cheap for the server, and in order.
                  ///< Excludes whoever locks the name with `SET name value NX PX`.
        redisson, ///< As Redisson does, byte for byte: a name can be shared with Java services.
    };
    key_layout layout = key_layout::native; ///< How locks are kept in keys.

    /// With `layout=redisson`, `redlock:` and `memory:` only: how long the fence counter of a name
    /// outlives its last grant; `forever`, or 1 s … 10 years.
    /// With `forever` names that Redisson's fenced locks use too can be shared. Until it has passed
    /// a name that was locked once costs the server some 145 bytes, the process of a `memory:`
    /// store 260.
    std::chrono::milliseconds fence_retention = std::chrono::hours(24);

    /// Each client of a Redis store writes a hash `leasehold:client:<client::id>` for people who
    /// look who holds a lock: host, pid, program, since (ms since 1970), version. It lives ten
    /// minutes, or three lease times if that is longer, and is written again with a request that
    /// goes out anyway when a third of that is over. A server that refuses it is not asked again
    /// over that connection. Each member of a `redlock:` gets one.
    bool client_info = true;

    /// Checks every field; called by whatever uses a config.
    /// @throws boost::system::system_error `errc::invalid_option`; `what()` names the field, its
    /// value, and what is allowed.
    void validate() const;
};

} // namespace leasehold

#endif
