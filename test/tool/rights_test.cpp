// `leasehold ls`, `inspect`, `watch` and `break` as users with the rights that docs/production.md
// names: the rights are enough, and each is needed.
#include "tool/tool_runs.hpp"
#include "tool/words.hpp"

#include "support/client_thread.hpp"
#include "support/cluster_deployment.hpp"
#include "support/documented_rights.hpp"
#include "support/print.hpp"
#include "support/process.hpp"
#include "support/quorum_deployment.hpp"
#include "support/redis_server.hpp"
#include "support/tested_layout.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::test {
namespace {

using namespace std::chrono_literals;
using words = std::vector<std::string>;
using servers_of_test = std::vector<redis_server*>;

bool is_native()
{
    return tested_layout() == redis_config::key_layout::native;
}

/// The rights of the documented command after this text.
words rights_behind(const std::string& text)
{
    words found = documented_rights(text);
    std::erase_if(found, [](const std::string& word) {
        return std::string("+%~&").find(word[0]) == std::string::npos;
    });
    return found;
}

words reading()
{
    return rights_behind(is_native() ? "\nACL SETUSER leasehold_looks "
                                     : "\nACL SETUSER leasehold_and_redisson_looks ");
}

words breaking()
{
    return rights_behind(is_native() ? "\nACL SETUSER leasehold_looks ~"
                                     : "\nACL SETUSER leasehold_and_redisson_looks ~");
}

words without(words all, const std::string& right)
{
    std::erase(all, right);
    return all;
}

void make_user(const servers_of_test& servers, const words& rights)
{
    for (redis_server* const each : servers) {
        resp_client raw = each->connect();
        raw.command({"ACL", "DELUSER", "person"});
        raw.done(words{"ACL", "SETUSER", "person", "on", ">secret", "resetkeys", "resetchannels",
                       "-@all"} +
                 rights);
        raw.done({"ACL", "LOG", "RESET"});
    }
}

/// Whether any of the servers has refused a command.
bool refused(const servers_of_test& servers)
{
    for (redis_server* const each : servers) {
        if (!each->connect().command({"ACL", "LOG", "1"}).items.empty())
            return true;
    }
    return false;
}

/// The URL, for the user.
std::string as_person(const std::string& url)
{
    return url_for("person", url);
}

/// A lock that its owner holds twice, and that another owner waits for.
class held_lock
{
public:
    explicit held_lock(redis_config settings)
    {
        settings.client_info = true;
        holder_ = std::make_unique<client_thread>(settings);
        waiter_ = std::make_unique<client_thread>(settings);
        lease_ = take(*holder_, "orders:1");
        owner_ = lease_.share_owner().id();
        taken again = get(holder_->start_reenter("orders:1", long_lease(), lease_.share_owner()));
        BOOST_TEST_REQUIRE(!again.code, again.code.message());
        entry_ = std::move(again.held);
        next_ = waiter_->start_lock("orders:1", long_lease());
        waiter_->seen().wait_for(recording_observer::kind::waiting);
    }

    /// Returns when the server also knows the waiter.
    explicit held_lock(const redis_server& server) : held_lock(at(server))
    {
        resp_client raw = server.connect();
        wait_until([&] { return waiters_of(raw, "orders:1") == 1; });
        if (!is_native())
            return;
        // The tool also reads the heartbeats of this holder.
        lock_options promised = long_lease();
        promised.dead_holder_grace = 30s;
        taken other = holder_->lock("orders:2", promised);
        BOOST_TEST_REQUIRE(!other.code, other.code.message());
        promised_ = std::move(other.held);
    }

    [[nodiscard]] const std::string& owner() const { return owner_; }

    /// The lease of the waiter, as soon as it has the lock.
    lease next()
    {
        taken got = get(next_);
        BOOST_TEST_REQUIRE(!got.code, got.code.message());
        return std::move(got.held);
    }

private:
    std::unique_ptr<client_thread> holder_, waiter_;
    lease lease_, entry_, promised_;
    std::string owner_;
    std::future<taken> next_;
};

struct fixture : tool_runs
{
    [[nodiscard]] static bool is_whole(const ran& done)
    {
        BOOST_TEST_MESSAGE(done.code << ": " << done.said);
        return done.code == 0 && done.said.empty() && !done.lines.empty();
    }

    /// Runs all commands that change nothing. True: nothing was missing in their output.
    bool reads(const std::string& url)
    {
        const auto watching = start({"watch", "--every", "10ms", "orders:*"}, url);
        const bool seen = watching->read_line(60s).has_value();
        if (seen)
            watching->signal(SIGINT);
        const ran watched = finish(*watching);
        return seen && watched.code == 0 && watched.said.empty() &&
               is_whole(run({"ls", "orders:*"}, url)) &&
               is_whole(run({"inspect", "orders:1"}, url)) &&
               is_whole(run({"trace", "--for", "100ms", "orders:1"}, url));
    }

    /// Breaks the lock, and then the lock of its waiter.
    bool breaks(const std::string& url, held_lock& lock)
    {
        if (!is_whole(run({"break", "orders:1", "--owner", lock.owner()}, url)))
            return false;
        const lease next = lock.next();
        return is_whole(run({"break", "orders:1", "--owner", next.share_owner().id()}, url));
    }

    /// With all rights, the output is complete. Without any one of them it is not, and the command
    /// reports this.
    void check_reading(const servers_of_test& servers, const std::string& url, const words& rights)
    {
        make_user(servers, rights);
        BOOST_TEST(reads(as_person(url)));
        BOOST_TEST(!refused(servers));
        for (const std::string& right : rights) {
            if (right == "+asking") // needed only while slots move
                continue;
            make_user(servers, without(rights, right));
            BOOST_TEST(!reads(as_person(url)), right);
        }
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(tool_rights, fixture)

BOOST_AUTO_TEST_CASE(documented_rights_to_read_are_enough_and_needed)
{
    redis_server server({}, {.tcp = true});
    const held_lock lock(server);
    check_reading({&server}, server.tcp_url(), reading());
}

BOOST_AUTO_TEST_CASE(documented_rights_to_break_are_enough_and_needed)
{
    const words rights = reading() + breaking();
    for (const std::string& right : words{""} + breaking()) {
        // Only some of the releases that grant the lock to the next owner use this channel.
        if (right.starts_with("&redisson_lock__channel:"))
            continue;
        redis_server server({}, {.tcp = true});
        held_lock lock(server);
        make_user({&server}, without(rights, right));
        const bool done = breaks(as_person(server.tcp_url()), lock) && !refused({&server});
        BOOST_TEST(done == right.empty(), right);
    }
}

BOOST_AUTO_TEST_CASE(refused_command_is_not_reported_as_no_lock)
{
    redis_server server({}, {.tcp = true});
    const held_lock lock(server);
    const std::string url = as_person(server.tcp_url());
    make_user({&server}, without(reading(), is_native() ? "+getrange" : "+hscan"));
    for (const words& arguments : {words{"ls"}, words{"inspect", "orders:1"},
                                   words{"break", "orders:1", "--owner", lock.owner()}}) {
        const ran done = run(arguments, url);
        BOOST_TEST(done.code == 77);
        BOOST_TEST(done.says("is rejected: NOPERM"));
    }
    make_user({&server}, without(reading(), "+pttl"));
    BOOST_TEST(run({"ls"}, url).code == 77);
    BOOST_TEST(said().find("PTTL is rejected") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(documented_rights_suffice_in_a_cluster)
{
    cluster_deployment cluster({.replicas = false});
    servers_of_test nodes;
    for (std::size_t i = 0; i < cluster.size(); ++i)
        nodes.push_back(&cluster.node(i));
    redis_config settings(cluster.url());
    settings.layout = tested_layout();
    held_lock lock(settings);
    words rights = reading() + rights_behind("In a cluster, on each node, also these; there");
    std::replace(rights.begin(), rights.end(), std::string("+pubsub|numsub"),
                 std::string("+pubsub|shardnumsub"));
    check_reading(nodes, cluster.url(), rights);
    make_user(nodes, rights + without(breaking(), "+publish") + words{"+spublish"});
    BOOST_TEST(breaks(as_person(cluster.url()), lock));
    BOOST_TEST(!refused(nodes));
}

// A quorum has its own keys, so one layout is enough.
boost::test_tools::assertion_result in_the_layout_native(boost::unit_test::test_unit_id)
{
    return is_native();
}

BOOST_AUTO_TEST_CASE(documented_rights_suffice_at_quorum_members,
                     *boost::unit_test::precondition(in_the_layout_native))
{
    const words reading_there = rights_behind("to look and to break");
    const words breaking_there = rights_behind(
        "\nACL SETUSER leasehold_looks ~orders:* ~leasehold:quorum");
    for (const std::string& right : words{""} + breaking_there) {
        quorum_deployment members;
        servers_of_test all;
        for (std::size_t i = 0; i < members.size(); ++i)
            all.push_back(&members[i]);
        held_lock lock(members.settings());
        if (right.empty())
            check_reading(all, members.url(), reading_there);
        make_user(all, without(reading_there + breaking_there, right));
        const bool done = breaks(as_person(members.url()), lock) && !refused(all);
        BOOST_TEST(done == right.empty(), right);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace leasehold::test
