// The records of clients, and their use by waiters.
#include <boost/test/unit_test.hpp>

#include "support/cluster_deployment.hpp"
#include "support/print.hpp"
#include "support/quorum_deployment.hpp"
#include "traps/redis_fixture.hpp"
#include "traps/test_client.hpp"

#include <boost/asio/ip/host_name.hpp>

#include <map>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;

std::string key_of(const client& one)
{
    return "leasehold:client:" + one.id();
}

std::map<std::string, std::string> read(resp_client& from, const std::string& key)
{
    const std::vector<std::string> words = from.strings({"HGETALL", key});
    std::map<std::string, std::string> fields;
    for (std::size_t i = 0; i + 1 < words.size(); i += 2)
        fields[words[i]] = words[i + 1];
    return fields;
}

redis_config telling(const redis_fixture& s)
{
    redis_config settings = s.direct();
    settings.client_info = true;
    return settings;
}

/// A client that holds a lock and has written its record.
struct holder
{
    holder(redis_fixture& s, const redis_config& settings)
        : one(s.context, settings), held(one.take("lock", leased(long_time)))
    {}

    test_client one;
    lease held;
};

client_info told(test_client& one)
{
    return one.saw->events(kind::not_acquired).back().details.holder_info;
}

void is_this_process(const client_info& info)
{
    BOOST_TEST(info.host == boost::asio::ip::host_name());
    BOOST_TEST(info.pid == ::getpid());
    BOOST_TEST(info.program == "client_info_test");
    BOOST_TEST((info.since > std::chrono::sys_days(std::chrono::year(2020) / 1 / 1)));
    BOOST_TEST(!info.version.empty());
}

} // namespace

BOOST_AUTO_TEST_CASE(client_record_is_written_once_with_a_ttl)
{
    redis_fixture s;
    holder h(s, telling(s));
    s.eventually([&] { return s.exists(key_of(h.one.locks)); });
    auto fields = read(s.raw, key_of(h.one.locks));
    BOOST_TEST(fields.size() == 5u);
    BOOST_TEST(fields["pid"] == std::to_string(::getpid()));
    BOOST_TEST(fields["program"] == "client_info_test");
    const auto life = s.left(key_of(h.one.locks));
    BOOST_TEST((life > 60'000 && life <= 600'000));
    // Further locks do not write the record again.
    s.raw.done({"HDEL", key_of(h.one.locks), "program"});
    for (int i = 0; i < 20; ++i) {
        lease held = h.one.take("other", leased(long_time));
        BOOST_TEST(h.one.released(held) == success);
    }
    BOOST_TEST(read(s.raw, key_of(h.one.locks)).count("program") == 0u);
}

BOOST_AUTO_TEST_CASE(client_record_outlives_longer_leases)
{
    redis_fixture s;
    test_client one(s.context, telling(s));
    lease held = one.take("lock", leased(std::chrono::hours(5)));
    s.eventually([&] { return s.left(key_of(one.locks)) > milliseconds(14h).count(); });
}

BOOST_AUTO_TEST_CASE(failed_lock_reports_the_client_record_of_the_holder)
{
    redis_fixture s;
    holder h(s, telling(s));
    test_client other(s.context, telling(s));
    const started tried = other.try_lock("lock", leased(long_time));
    run_until(s.context, tried);
    BOOST_TEST(tried.code() == errc::held);
    is_this_process(told(other));
    const started waited = other.lock_for(200ms, "lock", leased(long_time));
    run_until(s.context, waited);
    BOOST_TEST(waited.code() == errc::timed_out);
    is_this_process(told(other));
    // The same for the locks of this client.
    const started own = h.one.try_lock("lock", leased(long_time));
    run_until(s.context, own);
    is_this_process(told(h.one));
}

BOOST_AUTO_TEST_CASE(client_record_can_be_disabled)
{
    redis_fixture s;
    redis_config quiet = telling(s);
    quiet.client_info = false;
    holder h(s, quiet);
    test_client other(s.context, telling(s));
    const started tried = other.try_lock("lock", leased(long_time));
    run_until(s.context, tried);
    BOOST_TEST(tried.code() == errc::held);
    BOOST_TEST(told(other).empty());
    BOOST_TEST(!s.exists(key_of(h.one.locks)));
}

BOOST_AUTO_TEST_CASE(rejected_client_record_is_tried_once_per_connection)
{
    redis_fixture s;
    s.raw.done({"ACL", "SETUSER", "limited", "on", "nopass", "~lock*", "~other*",
                "~redisson_lock_token:*", "~leasehold:fence*", "~leasehold:line:*",
                "~leasehold:waiters:*", "~leasehold:entries:*", "~leasehold:check", "&*", "+@all"});
    redis_config settings = telling(s);
    settings.user = "limited";
    holder h(s, settings);
    for (int i = 0; i < 20; ++i) {
        lease held = h.one.take("other", leased(long_time));
        BOOST_TEST(h.one.released(held) == success);
    }
    std::size_t refusals = 0;
    for (const auto& entry : s.raw.command({"ACL", "LOG"}).items) {
        for (std::size_t i = 0; i + 1 < entry.items.size(); i += 2) {
            if (entry.items[i].text == "count")
                refusals += static_cast<std::size_t>(entry.items[i + 1].number);
        }
    }
    BOOST_TEST(refusals == 2u); // HSET and PEXPIRE
    test_client other(s.context, settings);
    const started tried = other.try_lock("lock", leased(long_time));
    run_until(s.context, tried);
    BOOST_TEST(tried.code() == errc::held);
    BOOST_TEST(told(other).empty());
    BOOST_TEST(h.one.stats().disconnects == 0u);
}

// The record must not remain forever.
BOOST_AUTO_TEST_CASE(client_record_without_a_ttl_is_deleted)
{
    redis_fixture s;
    const auto made = s.raw.command({"ACL", "SETUSER", "limited", "on", "nopass", "~*", "&*",
                                     "+@all", "-pexpire",
                                     "(+pexpire ~lock* ~redisson_* ~leasehold:[^c]* "
                                     "~leasehold:check)"});
    if (made.is_error())
        return; // a server before 7.0, which does not support such rights
    redis_config settings = telling(s);
    settings.user = "limited";
    holder h(s, settings);
    lease more = h.one.take("lock2", leased(long_time));
    s.eventually([&] { return !s.exists(key_of(h.one.locks)); });
}

BOOST_AUTO_TEST_CASE(lost_client_record_is_written_again)
{
    redis_fixture s({}, {.tcp = true});
    holder h(s, telling(s));
    s.eventually([&] { return s.exists(key_of(h.one.locks)); });
    s.server.restart_empty();
    s.reconnect();
    s.eventually([&] {
        const started next = h.one.lock_for(1s, "next", leased(long_time));
        run_until(s.context, next);
        return s.exists(key_of(h.one.locks));
    });
}

BOOST_AUTO_TEST_CASE(client_record_in_a_cluster_has_its_own_slot)
{
    cluster_deployment cluster;
    asio::io_context context;
    redis_config settings(cluster.url());
    settings.layout = tested_layout();
    test_client one(context, settings);
    test_client other(context, settings);
    std::vector<lease> held;
    held.push_back(one.take("lock", leased(long_time)));
    const std::string key = key_of(one.locks);
    int more = 0;
    eventually(context, [&] {
        held.push_back(one.take("more" + std::to_string(more++), leased(long_time)));
        return cluster.connect_to(key).integer({"EXISTS", key}) == 1;
    });
    eventually(context, [&] {
        const started waited = other.lock_for(100ms, "lock", leased(long_time));
        run_until(context, waited);
        return !told(other).empty();
    });
    is_this_process(told(other));
}

// A quorum has its own keys, so the layout does not matter.
BOOST_AUTO_TEST_CASE(client_record_is_written_to_each_quorum_member)
{
    quorum_deployment members;
    asio::io_context context;
    test_client one(context, members.settings());
    test_client other(context, members.settings());
    const std::string key = key_of(one.locks);
    std::vector<lease> held; // the first lock may be held by two members only
    held.push_back(one.take("lock", leased(long_time)));
    eventually(context, [&] {
        held.push_back(one.take("more" + std::to_string(held.size()), leased(long_time)));
        return members.count(key) == members.size();
    });
    const auto life = members[0].connect().integer({"PTTL", key});
    BOOST_TEST((life > 60'000 && life <= 600'000));
    const auto is_told = [&](const started& tried) {
        run_until(context, tried);
        BOOST_TEST(!!tried.code());
        is_this_process(told(other));
    };
    // One member that knows the holder is enough.
    members[0].connect().done({"DEL", key});
    members[1].connect().done({"DEL", key});
    is_told(other.try_lock("lock", leased(long_time)));
    is_told(other.lock_for(200ms, "lock", leased(long_time)));
}

BOOST_AUTO_TEST_CASE(late_quorum_member_gets_the_client_record_with_a_renewal)
{
    quorum_deployment members;
    asio::io_context context;
    test_client first(context, members.settings());
    const lease begun = first.take("first", leased(long_time));
    eventually(context, [&] { return members.is_member(2); });
    members[2].kill();
    test_client one(context, members.settings());
    lease held = one.take("lock", leased(3s));
    const std::string key = key_of(one.locks);
    eventually(context, [&] { return members.count(key) == 2; });
    members[2].start();
    eventually(context, [&] { return members.count(key) == 3; });
    BOOST_TEST(held.valid());
}

BOOST_AUTO_TEST_CASE(disabled_client_record_is_written_to_no_quorum_member)
{
    quorum_deployment members;
    asio::io_context context;
    redis_config quiet = members.settings();
    quiet.client_info = false;
    test_client one(context, quiet);
    test_client other(context, members.settings());
    lease held = one.take("lock", leased(long_time));
    const started tried = other.try_lock("lock", leased(long_time));
    run_until(context, tried);
    BOOST_TEST(tried.code() == errc::held);
    BOOST_TEST(told(other).empty());
    BOOST_TEST(members.count(key_of(one.locks)) == 0u);
    BOOST_TEST(one.released(held) == success);
}
