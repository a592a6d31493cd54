// Passwords that change while clients run, on real servers.
#include <boost/test/unit_test.hpp>

#include "redis/lab.hpp"
#include "support/cluster_deployment.hpp"
#include "support/directory.hpp"
#include "support/quorum_deployment.hpp"
#include "support/sentinel_deployment.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>

namespace {

using namespace leasehold;
using namespace leasehold::test;

/// A mounted secret.
class secret_file
{
public:
    explicit secret_file(const std::string& text) { write(text); }
    /// Replaces the file in one step.
    void write(const std::string& text)
    {
        std::ofstream(path() + ".new") << text;
        std::rename((path() + ".new").c_str(), path().c_str());
    }
    void remove() { std::remove(path().c_str()); }
    [[nodiscard]] std::string path() const { return directory_.file("password"); }

private:
    temporary_directory directory_;
};

void set_password(resp_client& server, const std::string& password)
{
    server.done({"ACL", "SETUSER", "app", "reset", "on", ">" + password, "~*", "&*", "+@all"});
}

/// The user gets another password, and its connections end.
void rotate(resp_client& server, const std::string& password)
{
    set_password(server, password);
    static_cast<void>(server.command({"CLIENT", "KILL", "USER", "app"}));
}

redis_config with_file(redis_config settings, const secret_file& secret)
{
    settings.user = "app";
    settings.password_file = secret.path();
    return settings;
}

lock_options patient()
{
    lock_options options = long_leases();
    options.wait_limit = 60s;
    return options;
}

/// Waits for the report of a failed connection with this code and these words.
void is_reported(client_thread& by, errc code, const std::string& words)
{
    BOOST_TEST_CONTEXT(words)
    {
        wait_until([&] {
            const auto seen = by.seen().events(kind::store_error);
            return std::any_of(seen.begin(), seen.end(), [&](const auto& each) {
                return each.code == code && each.name.find(words) != std::string::npos;
            });
        });
    }
}

/// The servers of a deployment get another password before the file has it: the holder keeps its
/// lease, and the waiter waits until the holder releases.
void survives_a_rotation(const redis_config& settings, secret_file& secret,
                         const std::function<void(const std::string&)>& rotate_all)
{
    client_thread holder(settings);
    client_thread other(settings);
    lease held = take(holder, patient());
    auto waiting = start_waiting(other, patient());
    rotate_all("second");
    is_reported(holder, errc::store_refused, "WRONGPASS");
    is_reported(other, errc::store_refused, "WRONGPASS");
    client_thread late(settings);
    auto late_waiting = late.start_lock("late", patient());
    is_reported(late, errc::store_refused, "WRONGPASS");
    BOOST_TEST(held.valid());
    BOOST_TEST((waiting.wait_for(0s) != std::future_status::ready));
    secret.write("second\n");
    taken one = get(late_waiting, 60s);
    BOOST_TEST_REQUIRE(!one.code, one.code.message());
    BOOST_TEST(!late.release(std::move(one.held)));
    holder.seen().clear();
    holder.seen().wait_for(kind::renewed, 2, 60s);
    BOOST_TEST(!other.release(hand_off(holder, std::move(held), waiting)));
}

} // namespace

BOOST_AUTO_TEST_CASE(holder_and_waiter_survive_a_rotated_password)
{
    redis_server server;
    resp_client admin = server.connect();
    set_password(admin, "first");
    secret_file secret("first");
    survives_a_rotation(with_file(at(server), secret), secret,
                        [&](const std::string& to) { rotate(admin, to); });
}

BOOST_AUTO_TEST_CASE(wakeups_continue_after_a_rotated_password)
{
    redis_server server;
    resp_client admin = server.connect();
    set_password(admin, "first");
    secret_file secret("first");
    const redis_config settings = with_file(at(server), secret);
    client_thread holder(settings);
    client_thread other(settings);
    lease held = take(holder, patient());
    auto waiting = start_waiting(other, patient());
    const auto subscribed = [&] {
        return admin.command({"CLIENT", "LIST", "TYPE", "pubsub"}).text.find("user=app") !=
               std::string::npos;
    };
    wait_until(subscribed);
    rotate(admin, "second");
    is_reported(other, errc::store_refused, "WRONGPASS");
    secret.write("second");
    wait_until(subscribed);
    BOOST_TEST(!other.release(hand_off(holder, std::move(held), waiting)));
}

// Redis does not end connections when a password changes, so no client notices.
BOOST_AUTO_TEST_CASE(connection_continues_when_the_password_changes)
{
    redis_server server;
    resp_client admin = server.connect();
    set_password(admin, "first");
    secret_file secret("first");
    client_thread holder(with_file(at(server), secret));
    lease held = take(holder);
    secret.write("second");
    admin.done({"ACL", "SETUSER", "app", "resetpass", ">second"});
    holder.seen().clear();
    holder.seen().wait_for(kind::renewed, 3);
    BOOST_TEST(holder.seen().count(kind::disconnected) == 0);
    BOOST_TEST(!holder.release(std::move(held)));
}

BOOST_AUTO_TEST_CASE(rejected_password_of_a_file_is_temporary_and_a_constant_one_is_not)
{
    redis_server server;
    resp_client admin = server.connect();
    set_password(admin, "right");
    const secret_file secret("wrong");
    const redis_config settings = with_file(at(server), secret);
    client_thread by_file(settings);
    auto waiting = by_file.start_lock(stock, patient());
    is_reported(by_file, errc::store_refused, "WRONGPASS");
    lock_options brief = long_leases();
    brief.wait_limit = 100ms;
    const taken limited = by_file.lock(stock, brief);
    BOOST_TEST((limited.code == errc::store_refused), limited.code.message());
    const auto why = by_file.seen().events(kind::not_acquired).back();
    BOOST_TEST(why.details.to_string().find("WRONGPASS") != std::string::npos);
    BOOST_TEST((by_file.try_lock(stock, brief).code == errc::store_refused));

    redis_config constant = at(server);
    constant.user = "app";
    constant.password = "wrong";
    client_thread by_text(constant);
    BOOST_TEST((by_text.lock(stock, long_leases()).code == errc::permission_denied));
}

// A user without rights is not a matter of the password.
BOOST_AUTO_TEST_CASE(denied_command_is_permanent_with_a_file)
{
    redis_server server;
    server.connect().done({"ACL", "SETUSER", "app", "on", ">secret", "~*", "&*", "+ping"});
    const secret_file secret("secret");
    client_thread user(with_file(at(server), secret));
    BOOST_TEST((user.lock(stock, long_leases()).code == errc::permission_denied));
}

BOOST_AUTO_TEST_CASE(missing_and_empty_file_are_reported_until_there_is_a_password)
{
    redis_server server;
    resp_client admin = server.connect();
    set_password(admin, "pass word");
    secret_file secret("pass word");
    secret.remove();
    client_thread user(with_file(at(server), secret));
    auto waiting = user.start_lock(stock, patient());
    is_reported(user, errc::store_unavailable,
                "password_file '" + secret.path() + "' cannot be read: No such file or directory");
    user.seen().clear();
    secret.write("\n");
    is_reported(user, errc::store_unavailable, "' is empty, must contain a password");
    user.seen().clear();
    secret.write(std::string(70'000, 'x'));
    is_reported(user, errc::store_unavailable, "' is too large, must have 64 KiB at most");
    secret.write("pass word\r\n");
    taken got = get(waiting);
    BOOST_TEST_REQUIRE(!got.code, got.code.message());
    BOOST_TEST(!user.release(std::move(got.held)));

    redis_config settings = with_file(at(server), secret);
    settings.password_file = "/";
    client_thread lost(settings);
    auto refused = lost.start_try_lock(stock, long_leases());
    is_reported(lost, errc::store_unavailable, "password_file '/' cannot be read: Is a directory");
    BOOST_TEST((get(refused).code == errc::store_unavailable));
}

BOOST_AUTO_TEST_CASE(function_is_called_for_each_connection)
{
    redis_server server;
    resp_client admin = server.connect();
    std::atomic<int> calls = 0;
    std::atomic<int> valid = 0; ///< The number of the token that the server accepts.
    redis_config settings = at(server);
    settings.credentials_source = [&] {
        if (++calls == 1)
            throw std::runtime_error("no token yet");
        return redis_config::credentials{"app", "token" + std::to_string(valid)};
    };
    const auto set = [&](int token) {
        rotate(admin, "token" + std::to_string(token));
        valid = token;
    };
    set(1);
    client_thread user(settings);
    auto waiting = user.start_lock(stock, patient());
    is_reported(user, errc::store_unavailable, "no token yet");
    taken got = get(waiting);
    BOOST_TEST_REQUIRE(!got.code, got.code.message());
    BOOST_TEST(calls == 2);
    for (int token = 2; token < 5; ++token) {
        user.seen().clear();
        set(token);
        user.seen().wait_for(kind::connected);
        user.seen().wait_for(kind::renewed);
    }
    BOOST_TEST(calls >= 5);
    BOOST_TEST(got.held.valid());
    BOOST_TEST(!user.release(std::move(got.held)));
}

BOOST_AUTO_TEST_CASE(sentinels_and_masters_may_rotate_their_passwords)
{
    sentinel_deployment servers;
    secret_file secret("first");
    secret_file of_sentinels("first\n");
    const auto each_sentinel = [&](auto change) {
        for (std::size_t i = 0; i < sentinel_deployment::sentinel_count; ++i) {
            resp_client there = servers.connect_to_sentinel(i);
            change(there);
        }
    };
    each_sentinel([](resp_client& there) { set_password(there, "first"); });
    resp_client master = servers.master().connect();
    set_password(master, "first");
    redis_config settings = with_file(at(servers.url()), secret);
    settings.sentinel_user = "app";
    settings.sentinel_password_file = of_sentinels.path();
    survives_a_rotation(settings, secret, [&](const std::string& to) { rotate(master, to); });

    // The Sentinels reject their password, but the one for the master is constant.
    each_sentinel([](resp_client& there) { set_password(there, "third"); });
    settings.password_file.clear();
    settings.password = "second";
    client_thread user(settings);
    auto waiting = user.start_lock(stock, patient());
    is_reported(user, errc::store_refused, "WRONGPASS");
    of_sentinels.write("third\n");
    taken got = get(waiting);
    BOOST_TEST_REQUIRE(!got.code, got.code.message());
    BOOST_TEST(!user.release(std::move(got.held)));

    // And the other way round.
    settings.sentinel_password_file.clear();
    settings.sentinel_password = "wrong";
    settings.password.clear();
    settings.password_file = secret.path();
    client_thread refused(settings);
    BOOST_TEST((refused.lock(stock, long_leases()).code == errc::permission_denied));
}

BOOST_AUTO_TEST_CASE(nodes_of_a_cluster_may_rotate_their_passwords)
{
    cluster_deployment servers({.replicas = false});
    const auto each_node = [&](const auto& change, const std::string& password) {
        for (std::size_t i = 0; i < servers.size(); ++i) {
            resp_client there = servers.connect(i);
            change(there, password);
        }
    };
    each_node(set_password, "first");
    secret_file secret("first\n");
    survives_a_rotation(with_file(at(servers.url()), secret), secret,
                        [&](const std::string& to) { each_node(rotate, to); });
}

BOOST_AUTO_TEST_CASE(members_of_a_quorum_may_rotate_their_passwords)
{
    quorum_deployment servers;
    const auto each_member = [&](const auto& change, const std::string& password) {
        for (std::size_t i = 0; i < servers.size(); ++i) {
            resp_client there = servers[i].connect();
            change(there, password);
        }
    };
    each_member(set_password, "first");
    secret_file secret("first\n");
    survives_a_rotation(with_file(servers.settings(), secret), secret,
                        [&](const std::string& to) { each_member(rotate, to); });
}
