#include <boost/test/unit_test.hpp>

#include "support/documented_rights.hpp"
#include "traps/redis_fixture.hpp"
#include "traps/test_client.hpp"

#include <string>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;

lock_options limited(milliseconds time)
{
    lock_options result = leased(time);
    result.wait_limit = 3s;
    return result;
}

/// The words of the documented command that creates the user with the fewest rights for this
/// layout, for locks whose names begin with "orders:".
std::vector<std::string> documented_command()
{
    const bool native = tested_layout() == redis_config::key_layout::native;
    const std::string user = native ? "leasehold" : "leasehold_and_redisson";
    return documented_rights("\nACL SETUSER " + user + ' ');
}

redis_config as(const redis_fixture& s, const std::vector<std::string>& command)
{
    redis_config result = s.direct();
    result.client_info = true;
    result.health_check = 100ms; // so that health checks run as well
    result.user = command.at(2);
    for (const std::string& word : command) {
        if (word.starts_with('>'))
            result.password = word.substr(1);
    }
    return result;
}

/// Creates the user of the README, with the conditional deletes of this server.
void make_user(redis_fixture& s, const std::vector<std::string>& command)
{
    s.raw.done(command);
    if (tested_layout() == redis_config::key_layout::native)
        permit_conditional_deletes(s.raw, command.at(2));
}

/// Whether the server has denied anything to any user.
bool refused(redis_fixture& s)
{
    return !s.raw.command({"ACL", "LOG", "1"}).items.empty();
}

/// A lease with heartbeats, if the layout supports them.
lock_options promised(milliseconds time)
{
    lock_options result = leased(time);
    if (tested_layout() == redis_config::key_layout::native)
        result.dead_holder_grace = time - 1ms;
    return result;
}

/// Waits for the lock of an external client, and receives its release. Returns whether it did.
bool follows_external_client(redis_fixture& s, test_client& a)
{
    const auto listeners = [&] { return s.raw.subscribers(channel_of("orders:1")); };
    s.external_lock("orders:1", 8s, "3b5c8f5e-0000-4000-8000-000000000000:42");
    const started waiter = a.lock_for(8s, "orders:1", patient(30s));
    s.eventually([&] { return listeners() > 0 || refused(s); });
    s.raw.done({"DEL", "orders:1"});
    s.raw.done({"PUBLISH", channel_of("orders:1"), "0"});
    run_until(s.context, waiter);
    s.eventually([&] { return listeners() == 0 || refused(s); });
    return waiter.has_lease() && a.released(waiter.lease()) == success;
}

/// Performs all operations on a lock that the rights allow, with the scripts in the script cache
/// and without: acquire, heartbeat, reentrant acquisition, renew, wait, receive a wake-up, release.
/// Returns whether all succeeded.
bool use_everything(redis_fixture& s, const redis_config& settings)
{
    test_client a(s.context, settings);
    test_client b(s.context, settings);
    const started first = a.lock_for(3s, "orders:1", promised(2s));
    run_until(s.context, first);
    if (!first.has_lease())
        return false;
    const started entry = b.lock("orders:1", limited(2s), first.lease().share_owner());
    const started waiter = b.lock_for(8s, "orders:1", patient(30s));
    run_until(s.context, entry);
    s.eventually([&] { return a.count(kind::renewed) > 0 || refused(s); });
    s.eventually([&] { return s.watchers("orders:1") > 0 || refused(s); });
    s.raw.done({"SCRIPT", "FLUSH"});
    const error_code entry_left = entry.has_lease() ? b.released(entry.lease()) : entry.code();
    const error_code left = a.released(first.lease());
    run_until(s.context, waiter); // by a wake-up, because it polls only after half a minute
    const error_code next = waiter.has_lease() ? b.released(waiter.lease()) : waiter.code();
    s.eventually([&] { return s.watchers("orders:1") == 0 || refused(s); });
    const auto failed = a.stats().renewals_failed + b.stats().renewals_failed;
    BOOST_TEST_MESSAGE("entry " << entry_left.message() << ", release " << left.message()
                                << ", next " << next.message() << ", renewals failed " << failed);
    return !entry_left && !left && !next && failed == 0 &&
           (tested_layout() == redis_config::key_layout::native || follows_external_client(s, a));
}

} // namespace

BOOST_AUTO_TEST_CASE(documented_rights_are_sufficient)
{
    redis_fixture s;
    const auto command = documented_command();
    make_user(s, command);
    BOOST_TEST(use_everything(s, as(s, command)));
    BOOST_TEST(!refused(s));
    BOOST_TEST(!s.exists("orders:1"));
}

// Without a replica the lock fails, but not because of a missing right.
BOOST_AUTO_TEST_CASE(documented_rights_plus_wait_allow_replica_confirmation)
{
    redis_fixture s;
    const auto command = documented_command();
    make_user(s, command);
    s.raw.done({"ACL", "SETUSER", command.at(2), "+wait", "~leasehold:confirmation"});
    test_client a(s.context, as(s, command));
    lock_options options = leased(2s);
    options.replica_acks = 1;
    options.replica_timeout = 10ms;
    const started one = a.lock_for(3s, "orders:1", options);
    run_until(s.context, one);
    BOOST_TEST((one.code() == errc::not_replicated), one.code().message());
    s.eventually([&] { return !s.exists("orders:1"); });
    BOOST_TEST(!refused(s));
}

BOOST_AUTO_TEST_CASE(each_documented_right_is_needed)
{
    const auto command = documented_command();
    for (const std::string& right : command) {
        // This right is used after lost connections, and not over a local socket.
        if (!right.starts_with('+') || right == "+client|kill")
            continue;
        redis_fixture s;
        make_user(s, command);
        s.raw.done({"ACL", "SETUSER", command.at(2), '-' + right.substr(1)});
        BOOST_TEST((!use_everything(s, as(s, command)) || refused(s)), right);
    }
}
