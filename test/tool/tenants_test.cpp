// The tool with a prefix in the URL: it has names without the prefix, and sees one tenant only.
#include "tool/tool_runs.hpp"
#include "tool/words.hpp"

#include "support/cluster_deployment.hpp"
#include "support/documented_rights.hpp"
#include "support/quorum_deployment.hpp"
#include "support/redis_server.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <future>
#include <string>
#include <vector>

namespace leasehold::test {
namespace {

using namespace std::chrono_literals;
using words = std::vector<std::string>;

redis_config with_prefix(redis_config settings, const std::string& prefix)
{
    settings.prefix = prefix;
    settings.client_info = true;
    return settings;
}

/// Two tenants hold a lock of the same name, and each has one more. The first has a second client.
struct two_tenants
{
    explicit two_tenants(const redis_config& settings)
        : app(with_prefix(settings, "app:")),
          second(with_prefix(settings, "app:")),
          other(with_prefix(settings, "other:"))
    {}

    client_thread app, second, other;
    lease ours = take(app, "stock"), mine = take(app, "a:1");
    lease theirs = take(other, "stock"), outside = take(other, "b:1");
};

struct fixture : tool_runs
{
    /// Each command names the locks of `app`, and none of `other`.
    void check_commands(two_tenants& both, const std::string& url)
    {
        const ran listed = run({"ls", "--json"}, url);
        BOOST_TEST(listed.code == 0, listed.said);
        BOOST_TEST(listed.has("\"stock\""), listed.text());
        BOOST_TEST(listed.has("\"a:1\""), listed.text());
        BOOST_TEST(!listed.has("\"b:1\""), listed.text());
        BOOST_TEST(!listed.has("app:"), listed.text());
        BOOST_TEST(!listed.has("\"fence_at_most\":null"), listed.text());
        const ran some = run({"ls", "s*"}, url);
        BOOST_TEST(some.has("stock"), some.text());
        BOOST_TEST(!some.has("\na:1 "), some.text());

        const ran seen = run({"inspect", "stock"}, url);
        BOOST_TEST(seen.code == 0, seen.said);
        BOOST_TEST(seen.has(both.app.locks().id().substr(0, 8)), seen.text());
        BOOST_TEST(seen.has("tool_tenants_test"), seen.text());
        BOOST_TEST(!seen.has("app:"), seen.text());
        BOOST_TEST(run({"inspect", "b:1"}, url).code == 1);

        const auto watching = start({"watch", "--every", "10ms"}, url);
        const auto line = watching->read_line(60s);
        BOOST_TEST_REQUIRE(line.has_value());
        watching->signal(SIGINT);
        const ran watched = finish(*watching);
        BOOST_TEST((*line + watched.text()).find("app:") == std::string::npos);

        const std::string owner = both.theirs.share_owner().id();
        BOOST_TEST(run({"break", "stock", "--owner", owner}, url).code == 75);
        BOOST_TEST(both.theirs.valid());
        auto waiting = both.second.start_lock("stock", long_lease());
        both.second.seen().wait_for(recording_observer::kind::waiting);
        const ran done = run({"break", "stock", "--owner", both.ours.share_owner().id()}, url);
        BOOST_TEST(done.code == 0, done.said);
        BOOST_TEST(done.has("removed 'stock'"), done.text());
        taken next = get(waiting);
        BOOST_TEST_REQUIRE(!next.code, next.code.message());
        BOOST_TEST(!both.second.release(std::move(next.held)));
        BOOST_TEST(both.theirs.valid());
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(tool_tenants, fixture)

BOOST_AUTO_TEST_CASE(commands_see_the_locks_of_one_tenant)
{
    redis_server server;
    two_tenants both(at(server));
    check_commands(both, server.unix_url() + "?prefix=app:");
}

BOOST_AUTO_TEST_CASE(commands_see_the_locks_of_one_tenant_in_a_cluster)
{
    cluster_deployment cluster({.replicas = false});
    two_tenants both(at(cluster.url()));
    check_commands(both, cluster.url() + "?prefix=app:");
}

BOOST_AUTO_TEST_CASE(commands_see_the_locks_of_one_tenant_of_a_quorum)
{
    quorum_deployment members;
    two_tenants both(members.settings());
    check_commands(both, members.url() + "?prefix=app:");
}

BOOST_AUTO_TEST_CASE(line_of_a_lock_is_that_of_the_tenant)
{
    redis_server server;
    two_tenants both(at(server));
    auto waiting = both.second.start_lock("stock", long_lease());
    both.second.seen().wait_for(recording_observer::kind::waiting);
    resp_client raw = server.connect();
    wait_until([&] { return raw.integer({"LLEN", "app:leasehold:line:{app:stock}"}) == 1; });
    const ran seen = run({"inspect", "stock"}, server.unix_url() + "?prefix=app:");
    BOOST_TEST(seen.has(both.second.locks().id().substr(0, 8)), seen.text());
    BOOST_TEST(!both.app.release(std::move(both.ours)));
    BOOST_TEST(!both.second.release(get(waiting).held));
}

BOOST_AUTO_TEST_CASE(bench_leaves_only_the_counter_of_the_tenant)
{
    redis_server server;
    const ran done = run({"bench", "--time", "50ms", "--at-a-time", "5"},
                         server.unix_url() + "?prefix=app:");
    BOOST_TEST(done.code == 0, done.said);
    BOOST_TEST(server.connect().strings({"KEYS", "*"}) == words{"app:leasehold:fence"},
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(doctor_finds_that_the_rights_of_a_tenant_are_enough)
{
    redis_server server({}, {.tcp = true});
    resp_client raw = server.connect();
    raw.done(documented_rights("\nACL SETUSER app "));
    permit_conditional_deletes(raw, "app");
    raw.done({"ACL", "SETUSER", "app", "+acl|dryrun", "+acl|whoami", "+client|kill"});
    const std::string url = url_for("app", server.tcp_url());
    const ran enough = run({"doctor", "--json"}, url + "?prefix=app:");
    BOOST_TEST(!enough.has("\"rights\""), enough.text());
    BOOST_TEST(!enough.has("\"trial\""), enough.text());
    BOOST_TEST(raw.strings({"KEYS", "*"}) == words{"app:leasehold:fence"},
               boost::test_tools::per_element());
    const ran wrong = run({"doctor", "--json"}, url + "?prefix=other:");
    BOOST_TEST(wrong.has("\"rights\""), wrong.text());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace leasehold::test
