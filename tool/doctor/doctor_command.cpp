#include "doctor_command.hpp"

#include "../exit_code.hpp"
#include "../server/servers.hpp"
#include "../sql/database_url.hpp"
#include "../terminal.hpp"
#include "../url_option.hpp"
#include "../values.hpp"
#include "deployment.hpp"
#include "examine.hpp"
#include "judge.hpp"
#ifdef LEASEHOLD_HAS_MYSQL
#include "mysql_doctor.hpp"
#endif
#ifdef LEASEHOLD_HAS_POSTGRES
#include "postgres_doctor.hpp"
#endif
#include "report.hpp"
#include "trial.hpp"
#ifdef LEASEHOLD_HAS_ETCD
#include "etcd_doctor.hpp"
#endif
#ifdef LEASEHOLD_HAS_ZOOKEEPER
#include "zookeeper_doctor.hpp"
#endif

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold::tool {
namespace {

using namespace doctor;
using std::chrono::milliseconds;

constexpr char about[] =
    R"(Checks if the server, or the servers, of a URL are fit to keep locks:
in Redis the version, role, eviction, memory, persistence, replicas, Sentinels,
cluster, quorum, clocks, and the rights of the user; in a database the schema
and the durability; in ZooKeeper and etcd the members and their majority; and
the latency. Then it acquires and releases the lock KEY. Each finding says why
it matters and how to fix it.

Without KEY it uses a random name. Pass KEY if the user may access only certain
keys. It writes nothing else.
)";

constexpr char notes[] = R"(Exit code:
  0    no warning and no problem; there may be notes
  1    warnings: locks may fail if something else fails
  3    problems: locks do not work, or two owners may hold one lock
  2    an argument is invalid
  70   the output cannot be written
  77   no server could be queried
)";

constexpr int has_warnings = 1;
constexpr int has_problems = 3;

std::string unused_key()
{
    std::random_device random;
    return "leasehold-doctor:" + std::to_string(random()) + std::to_string(random());
}

/// Advice for a server that cannot be queried, chosen by the error text.
std::string advice_on(std::string_view why)
{
    const auto says = [&](auto... any) { return ((why.find(any) != why.npos) || ...); };
    if (says("certificate for another host"))
        return "Use a host in the URL that the certificate names, or issue a certificate for this "
               "host.";
    if (says("certificate that is not trusted"))
        return "Pass the file of the authority that issued it: ?ca=FILE in the URL.";
    if (says("trusted certificates cannot be read"))
        return "Make the file readable, or pass another one: ?ca=FILE in the URL.";
    if (says("by TLS"))
        return "Check if this port expects TLS. The scheme without TLS is redis://.";
    if (says("password_file"))
        return "Make the file readable, and write the password into it.";
    if (says("WRONGPASS", "invalid password", "NOAUTH", "Client sent AUTH", "ERR AUTH"))
        return "Correct the user and the password in the URL. ACL LIST on the server shows its "
               "users.";
    if (says("NOPERM"))
        return "Grant the user this right; docs/production.md lists all required rights.";
    if (says("does not support RESP3"))
        return "Connect to the server itself, or through a proxy that only forwards bytes. The "
               "server must be Redis 6.2 or newer, or Valkey.";
    if (says("DB index"))
        return "Use a database number below the server's setting 'databases'.";
    if (says("Host not found"))
        return "Correct the host in the URL, or the name service.";
    if (says("refused", "No such file"))
        return "Check if the server runs and listens on this address.";
    return "Check if the server runs, and if the network lets connections pass.";
}

class doctor_command final : public command
{
public:
    doctor_command() : command("doctor [OPTION...] [KEY]", about)
    {
        declare_url(options(), url_);
        options().value("--admin", "URL",
                        "The same servers, with a user that may use INFO, CONFIG GET\n"
                        "and ACL DRYRUN if the user of --url may not (default:\n"
                        "LEASEHOLD_ADMIN_URL from the environment, else --url).",
                        [this](std::string_view value) { admin_ = value; });
        options().value("--apart", "TIME", "Time between two readings of the clocks (1s).",
                        [this](std::string_view value) { apart_ = read_duration(value); });
        options().value("--slow", "TIME", "Report a round trip that takes longer (50ms).",
                        [this](std::string_view value) { slow_ = read_duration(value); });
        options().flag("--json", "Print one JSON object.", json_);
        options().notes(notes);
    }

    int run(const command_line::words& given) override;

private:
    void inspect_redis(const std::string& key);
    [[nodiscard]] report inspect_postgres(const std::string& admin, const std::string& key) const;
    [[nodiscard]] report inspect_mysql(const std::string& admin, const std::string& key) const;
    [[nodiscard]] report inspect_zookeeper(const std::string& admin, const std::string& key) const;
    [[nodiscard]] report inspect_etcd(const std::string& admin, const std::string& key) const;
    void inspect(const redis_config& where, const redis_config& admin, const std::string& key);

    std::string url_;
    std::string admin_ = environment("LEASEHOLD_ADMIN_URL");
    milliseconds apart_{1'000};
    milliseconds slow_{50};
    bool json_ = false;
    std::vector<server_facts> servers_;
    report report_;

    static std::string environment(const char* name)
    {
        const char* const value = std::getenv(name);
        return value == nullptr ? "" : value;
    }
};

void doctor_command::inspect(const redis_config& where, const redis_config& admin,
                             const std::string& key)
{
    boost::asio::io_context context;
    findings& found = report_.found;
    const auto cannot_be_asked = [&](const std::string& server, const std::string& why) {
        const bool is_member = where.kind == redis_config::deployment::quorum;
        found.push_back({is_member ? level::warning : level::problem, "reachable", server, why,
                         is_member ? "One member fewer can grant locks."
                                   : "Its locks cannot be acquired or renewed.",
                         advice_on(why)});
    };
    judge_url(where, found);
    if (where.kind == redis_config::deployment::sentinel)
        inspect_sentinels(context, where, found);
    if (where.kind == redis_config::deployment::cluster)
        inspect_cluster(context, admin, found);

    try {
        servers all(context, admin);
        std::vector<std::size_t> places;
        for (std::size_t place = 0; place < all.size(); ++place) {
            try {
                servers_.push_back(examine(all.connection(place), where, where.user, key));
                places.push_back(place);
            }
            catch (const unreachable& failed) {
                cannot_be_asked(all.name(place), failed.what());
            }
            catch (const refused& failed) {
                cannot_be_asked(all.name(place), failed.what());
            }
        }
        boost::asio::steady_timer between(context, apart_);
        between.wait();
        for (std::size_t i = 0; i < places.size(); ++i) {
            try {
                servers_[i].clock.push_back(read_clock(all.connection(places[i])));
            }
            catch (const unreachable& failed) {
                cannot_be_asked(all.name(places[i]), failed.what());
            }
            catch (const refused&) { // was reported after the first reading
            }
        }
    }
    catch (const unreachable& failed) {
        cannot_be_asked({}, failed.what());
    }
    catch (const refused& failed) {
        cannot_be_asked({}, failed.what());
    }

    for (const server_facts& each : servers_) {
        judge_server(each, where, slow_, found);
        report_.servers.push_back(summary_of(each));
    }
    judge_clocks(servers_, found);
    if (where.kind == redis_config::deployment::quorum)
        judge_quorum(servers_, where, found);
    if (!servers_.empty()) {
        redis_config quiet = where;
        quiet.client_info = false; // leaves nothing on the server
        try_lock(make_redis_store(quiet), key, found);
    }
}

void doctor_command::inspect_redis(const std::string& key)
{
    const redis_config where = read_url(url_);
    const redis_config admin = admin_.empty() ? where : read_url(admin_);
    if (admin.kind != where.kind)
        throw usage_error("--admin is a URL of another kind; it must name the servers of --url");
    inspect(where, admin, key);
}

#ifdef LEASEHOLD_HAS_POSTGRES
report doctor_command::inspect_postgres(const std::string& admin, const std::string& key) const
{
    return examine_postgres(postgres_config(url_), postgres_config(admin), slow_, key);
}
#else
report doctor_command::inspect_postgres(const std::string&, const std::string&) const
{
    throw usage_error("this program was built without PostgreSQL");
}
#endif

#ifdef LEASEHOLD_HAS_MYSQL
report doctor_command::inspect_mysql(const std::string& admin, const std::string& key) const
{
    return examine_mysql(mysql_config(url_), mysql_config(admin), slow_, key);
}
#else
report doctor_command::inspect_mysql(const std::string&, const std::string&) const
{
    throw usage_error("this program was built without MySQL");
}
#endif

#ifdef LEASEHOLD_HAS_ZOOKEEPER
report doctor_command::inspect_zookeeper(const std::string& admin, const std::string& key) const
{
    return examine_zookeeper(zookeeper_config(url_), zookeeper_config(admin), slow_, key);
}
#else
report doctor_command::inspect_zookeeper(const std::string&, const std::string&) const
{
    throw usage_error("this program was built without ZooKeeper");
}
#endif

#ifdef LEASEHOLD_HAS_ETCD
report doctor_command::inspect_etcd(const std::string& admin, const std::string& key) const
{
    return examine_etcd(etcd_config(url_), etcd_config(admin), slow_, key);
}
#else
report doctor_command::inspect_etcd(const std::string&, const std::string&) const
{
    throw usage_error("this program was built without etcd");
}
#endif

int doctor_command::run(const command_line::words& given)
{
    if (given.arguments.size() > 1)
        throw usage_error("at most one KEY is allowed");
    if (!given.command.empty())
        throw usage_error("no command is allowed: '" + given.command.front() + "'");
    const std::string key = given.arguments.empty() ? unused_key() : given.arguments.front();
    const std::string& admin = admin_.empty() ? url_ : admin_;
    if (is_postgres(url_) && is_postgres(admin))
        report_ = inspect_postgres(admin, key);
    else if (is_mysql(url_) && is_mysql(admin))
        report_ = inspect_mysql(admin, key);
    else if (is_zookeeper(url_) && is_zookeeper(admin))
        report_ = inspect_zookeeper(admin, key);
    else if (is_etcd(url_) && is_etcd(admin))
        report_ = inspect_etcd(admin, key);
    else
        inspect_redis(key);

    report_.sort();
    print(json_ ? as_json(report_) : as_text(report_));
    if (report_.servers.empty())
        return store_unavailable;
    if (report_.count(level::problem) != 0)
        return has_problems;
    if (report_.count(level::warning) != 0)
        return has_warnings;
    return success;
}

} // namespace

std::unique_ptr<command> make_doctor_command()
{
    return std::make_unique<doctor_command>();
}

} // namespace leasehold::tool
