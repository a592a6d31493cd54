#include <boost/test/unit_test.hpp>

#include "support/counting_listener.hpp"
#include "support/fault_proxy.hpp"
#include "support/port.hpp"
#include "support/redis_application.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"
#include "support/store_contract.hpp"

#include "redis/commands/redisson_commands.hpp"
#include "redis/pipeline/batch.hpp"

#include <leasehold/redis.hpp>

#include <boost/redis/resp3/parser.hpp>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace leasehold::test::contract;

redis_config at(const redis_server& server)
{
    redis_config settings;
    settings.unix_socket = server.socket();
    settings.reconnect = 5ms;
    // Applies to the tests after the contract.
    settings.layout = redis_config::key_layout::redisson;
    return settings;
}

std::string plain(const resp_value& reply)
{
    if (reply.type == resp_value::kind::integer)
        return std::to_string(reply.number);
    if (reply.is_error())
        return '-' + reply.text;
    std::string all = reply.text;
    for (const resp_value& each : reply.items)
        all += (all.empty() ? "" : " ") + plain(each);
    return all;
}

class own_lab : public store_lab
{
public:
    explicit own_lab(std::vector<std::string> options = {}) : server(std::move(options)) {}
    std::shared_ptr<store> make_store() override { return make_redis_store(at(server)); }
    void erase(std::string_view name) override { command({"DEL", std::string(name)}); }
    void clear() override { command({"FLUSHALL"}); }

    /// Over a separate connection, because those of the store may be closed or waiting. An error
    /// starts with its '-', elements are joined by spaces.
    std::string command(const resp_client::words& words)
    {
        return plain(resp_client(server.endpoint()).command(words));
    }

    /// Closes all connections.
    void cut()
    {
        command({"CLIENT", "KILL", "TYPE", "normal"});
        command({"CLIENT", "KILL", "TYPE", "pubsub"});
    }

    redis_server server;
};

class native_lab final : public own_lab
{
public:
    std::shared_ptr<store> make_store() override
    {
        redis_config settings = at(server);
        settings.layout = redis_config::key_layout::native;
        return make_redis_store(settings);
    }
};

class borrowed_lab final : public own_lab
{
public:
    using own_lab::own_lab;
    std::shared_ptr<store> make_store() override
    {
        return make_redis_store(app_.connection(), at(server));
    }

private:
    redis_application app_{server.socket()};
};

} // namespace

BOOST_AUTO_TEST_SUITE(own)
const bool added = add_store_contract([] { return std::make_unique<own_lab>(); });
BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(native)
const bool added = add_store_contract([] { return std::make_unique<native_lab>(); });
BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(borrowed)
const bool added = add_store_contract([] { return std::make_unique<borrowed_lab>(); });
BOOST_AUTO_TEST_SUITE_END()

namespace {

std::unique_ptr<own_lab> make_lab(bool borrowed, std::vector<std::string> options = {})
{
    if (borrowed)
        return std::make_unique<borrowed_lab>(std::move(options));
    return std::make_unique<own_lab>(std::move(options));
}

/// A client of a lab, connected.
struct client_of
{
    explicit client_of(store_lab& lab) : session(context, lab.make_store())
    {
        session.wait_until_connected();
    }
    ~client_of() { BOOST_TEST(!session.listener_misused); }

    asio::io_context context;
    store_session session;
};

release_request leave(std::string_view name, std::string_view owner)
{
    return {.name = name, .owner = owner, .entry = {}};
}

std::string lowered(std::string_view text)
{
    std::string result(text);
    for (char& c : result)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
}

constexpr bool both[] = {false, true};

} // namespace

BOOST_AUTO_TEST_SUITE(scripts)

// Found by fuzzing: a text was taken for a reply, and later replies for those to other requests.
BOOST_AUTO_TEST_CASE(malformed_reply_ends_the_connection)
{
    namespace redis = boost::redis;
    const auto outcome = [](std::string_view bytes) {
        const auto asked = std::make_shared<redis_store::batch>();
        redis_store::redisson_commands keys(0ms);
        asked->add(store::acquire_handler(),
                   [&](redis::request& to) { return keys.acquire(take("lock", "a:1"), 0, to); });
        redis::any_adapter adapter = asked->adapter();
        redis::resp3::parser parser;
        error_code failed;
        BOOST_TEST(redis::resp3::parse(parser, bytes, adapter, failed));
        BOOST_TEST(asked->answered() == (failed ? 0u : 1u));
        return failed;
    };
    for (const char* good : {"*4\r\n:1\r\n:7\r\n:1\r\n:9\r\n", ":3400000000000002\r\n",
                             "-BUSY x\r\n", "!3\r\nOOM\r\n"})
        BOOST_TEST_CONTEXT(good)
        {
            BOOST_TEST(!outcome(good));
        }
    for (const char* odd :
         {",1\r\n", "+OK\r\n", "_\r\n", "#t\r\n", "$1\r\n1\r\n", "*0\r\n",
          "*3\r\n:1\r\n:7\r\n:1\r\n", "*5\r\n", "~4\r\n", "%2\r\n", "|1\r\n", "*2\r\n*2\r\n",
          "*4\r\n*4\r\n:1\r\n:7\r\n:1\r\n:9\r\n", "*4\r\n:1\r\n:x\r\n", "*4\r\n:1\r\n,7.5\r\n",
          "*4\r\n:1\r\n-BUSY x\r\n", "*4\r\n:1\r\n:99999999999999999999\r\n"})
        BOOST_TEST_CONTEXT(odd)
        {
            BOOST_TEST(static_cast<bool>(outcome(odd)));
        }
}

// Found by fuzzing: Redisson gives "a" and "{a}" the same channel, and only the first of the two
// got the message.
BOOST_AUTO_TEST_CASE(names_that_share_a_channel_each_get_the_wake_up)
{
    own_lab lab;
    client_of one(lab), two(lab);
    const auto told = [&](std::string_view name) {
        return std::count(one.session.wakeups.begin(), one.session.wakeups.end(), name) > 0;
    };
    one.session.watch("a");
    one.session.watch("{a}");
    run_until(one.context, [&] { return told("a") && told("{a}"); });
    const auto releases = [&](std::string_view name) {
        one.session.wakeups.clear();
        BOOST_REQUIRE((two.session.acquire(take(name, "a:1")).reply.result == granted_t::granted));
        BOOST_TEST((two.session.release(leave(name, "a:1")).reply.receivers == 1u));
    };
    releases("{a}");
    run_until(one.context, [&] { return told("a") && told("{a}"); });
    one.session.unwatch("a");
    releases("{a}");
    run_until(one.context, [&] { return told("{a}"); });
    BOOST_TEST(!told("a"));
    one.session.unwatch("{a}");
    run_until(one.context, [&] {
        return lab.command({"PUBSUB", "CHANNELS"}).find("redisson") == std::string::npos;
    });
}

// S1: the cache is emptied between any two commands.
BOOST_AUTO_TEST_CASE(forgotten_scripts_are_sent_again)
{
    for (const bool borrowed : both) {
        const auto lab = make_lab(borrowed);
        client_of c(*lab);
        lab->command({"SCRIPT", "FLUSH"});
        int answers = 0;
        const auto granted = [&](error_code code, acquire_reply reply) {
            BOOST_TEST(!code.failed());
            BOOST_TEST((reply.result == granted_t::granted));
            ++answers;
        };
        const auto freed = [&](error_code code, release_reply reply) {
            BOOST_TEST(!code.failed());
            BOOST_TEST((reply.result == released_t::freed));
            ++answers;
        };
        c.session.on_the_strand([&] {
            store& s = c.session.get();
            s.async_acquire(take("lock", "a:1"), granted);
            s.async_release(leave("lock", "a:1"), freed);
            s.async_acquire(take("lock", "a:2"), granted);
            s.async_acquire(take("other", "a:3"), granted);
            s.async_release(leave("lock", "a:2"), freed);
        });
        run_until(c.context, [&] { return answers == 5; });
    }
}

// Replies to several batches come in one read: the commands are repeated in the order of the calls.
BOOST_AUTO_TEST_CASE(missing_script_keeps_the_order_of_several_batches)
{
    own_lab lab;
    fault_proxy proxy(lab.server);
    redis_application application(proxy.port());
    asio::io_context context;
    store_session session(context, make_redis_store(application.connection(), redis_config()));
    session.wait_until_connected();
    for (int round = 0; round < 20; ++round) {
        lab.command({"SCRIPT", "FLUSH"});
        proxy.stall_replies();
        const auto before = proxy.count().replies;
        std::string order;
        session.on_the_strand([&] {
            for (const std::string_view owner : {"a", "b", "c"})
                session.get().async_acquire(take("lock", owner), [&, owner](error_code code,
                                                                            acquire_reply reply) {
                    BOOST_TEST(!code.failed());
                    order += reply.result == granted_t::granted ? std::string(owner) + " " : "- ";
                });
        });
        context.poll(); // sends the requests that were not sent at once
        proxy.wait_until(
            [&](const fault_proxy::counters& now) { return now.replies >= before + 3; });
        proxy.forward();
        run_until(context, [&] { return order.size() >= 6; });
        BOOST_TEST(order == "a - - ");
        session.release(leave("lock", "a"));
    }
}

BOOST_AUTO_TEST_CASE(release_does_not_overtake_an_acquire_with_a_missing_script)
{
    own_lab lab;
    client_of c(lab);
    lab.command({"SCRIPT", "FLUSH"});
    c.session.release(leave("lock", "nobody")); // restores this one script
    int answers = 0;
    c.session.on_the_strand([&] {
        c.session.get().async_acquire(take("lock", "a:1"), [&](error_code code, acquire_reply) {
            BOOST_TEST(!code.failed());
            ++answers;
        });
        c.session.get().async_release(leave("lock", "a:1"),
                                      [&](error_code code, release_reply reply) {
                                          BOOST_TEST(!code.failed());
                                          BOOST_TEST((reply.result == released_t::freed));
                                          ++answers;
                                      });
    });
    run_until(c.context, [&] { return answers == 2; });
    BOOST_TEST(lab.command({"EXISTS", "lock"}) == "0");
}

BOOST_AUTO_TEST_CASE(many_renewals_of_one_call_are_reported_each)
{
    own_lab lab;
    client_of c(lab);
    constexpr std::size_t count = 1001;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i)
        names.push_back("lock:" + std::to_string(i));
    std::vector<renewal> renewals;
    for (std::size_t i = 0; i < count; ++i) {
        if (i % 2 == 0)
            BOOST_REQUIRE(
                (c.session.acquire(take(names[i], "a:1", 60s)).reply.result == granted_t::granted));
        renewals.push_back({names[i], "a:1", 90s});
    }
    const auto got = c.session.renew(renewals);
    BOOST_TEST(!got.code.failed());
    BOOST_REQUIRE(got.reply.results.size() == count);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i)
        wrong += got.reply.results[i] !=
                 (i % 2 == 0 ? renewal_result::renewed : renewal_result::gone);
    BOOST_TEST(wrong == 0u);
    BOOST_TEST(std::stol(lab.command({"PTTL", "lock:1000"})) > 60'000);
    BOOST_TEST(c.session.renew({}).reply.results.empty());
}

// Thousands of commands in one turn of the strand: each gets its own reply.
BOOST_AUTO_TEST_CASE(each_of_many_requests_gets_its_own_reply)
{
    for (const bool borrowed : both) {
        const auto lab = make_lab(borrowed);
        client_of c(*lab);
        std::size_t answers = 0, wrong = 0;
        constexpr std::size_t count = 2000;
        c.session.on_the_strand([&] {
            for (std::size_t i = 0; i < count; ++i) {
                const std::string name = std::to_string(i);
                const auto lease = std::chrono::seconds(10 + i);
                c.session.get().async_acquire(
                    take(name, "a:1", lease), [&](error_code code, acquire_reply reply) {
                        wrong += code.failed() || reply.result != granted_t::granted;
                        ++answers;
                    });
                c.session.get().async_acquire(
                    take(name, "b:1"), [&, lease](error_code code, acquire_reply reply) {
                        wrong += code.failed() || reply.result != granted_t::held ||
                                 reply.remaining > lease || reply.remaining < lease - 5s;
                        ++answers;
                    });
            }
        });
        run_until(c.context, [&] { return answers == 2 * count; });
        BOOST_TEST(wrong == 0u);

        // A script may execute many releases of this turn together.
        answers = 0;
        c.session.on_the_strand([&] {
            for (std::size_t i = 0; i < count; ++i) {
                const bool owns = i % 3 != 0;
                c.session.get().async_release(
                    {.name = std::to_string(i), .owner = owns ? "a:1" : "b:1", .entry = {}},
                    [&, owns](error_code code, const release_reply& reply) {
                        wrong += code.failed() ||
                                 reply.result != (owns ? released_t::freed : released_t::not_owner);
                        ++answers;
                    });
            }
        });
        run_until(c.context, [&] { return answers == count; });
        BOOST_TEST(wrong == 0u);
        for (std::size_t i = 0; i < count; i += 7)
            wrong += lab->command({"EXISTS", std::to_string(i)}) != (i % 3 != 0 ? "0" : "1");
        BOOST_TEST(wrong == 0u);
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(refusals)

// S4
BOOST_AUTO_TEST_CASE(key_of_another_type_is_reported_and_left_unchanged)
{
    own_lab lab;
    client_of c(lab);
    lab.command({"SET", "lock", "text"});
    BOOST_TEST((c.session.acquire(take("lock", "a:1")).code == errc::wrong_type));
    BOOST_TEST((c.session.release(leave("lock", "a:1")).code == errc::wrong_type));
    const renewal one[] = {{"lock", "a:1", 10s}};
    BOOST_TEST((c.session.renew(one).reply.results.at(0) == renewal_result::gone));
    BOOST_TEST(lab.command({"GET", "lock"}) == "text");
    const auto words = [&](std::string_view name) {
        const auto refused = c.session.acquire(take(name, "a:1"));
        BOOST_TEST((refused.code == errc::wrong_type));
        return refused.reply.details ? refused.reply.details->server_message : "";
    };
    BOOST_TEST(words("lock").starts_with("WRONGTYPE the key lock holds string, a lock is a hash"));

    const std::string counter = "redisson_lock_token:{other}";
    lab.command({"SET", counter, "text"});
    BOOST_TEST(words("other").starts_with("WRONGTYPE the key " + counter + " holds no fence"));
    lab.command({"DEL", counter});
    lab.command({"RPUSH", counter, "1"});
    BOOST_TEST(words("other").starts_with("WRONGTYPE the key " + counter + " holds list"));
    // If the user may not read the type, it is reported as unknown.
    lab.command({"ACL", "SETUSER", "default", "-type"});
    BOOST_TEST(words("other").starts_with("WRONGTYPE the key " + counter + " holds another type"));
    BOOST_TEST(lab.command({"EXISTS", "other"}) == "0");
    BOOST_TEST(c.session.disconnected == 0);
}

// The first digits of the client's UUID, which are not enough for a reentrant acquisition.
BOOST_AUTO_TEST_CASE(holder_is_reported_on_request)
{
    own_lab lab;
    client_of c(lab);
    const std::string owner = "0e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10:17";
    const auto asks = [](acquire_request request) {
        request.needs_holder = true;
        return request;
    };
    const auto holder = [&](std::string_view name, bool asked = true) {
        const auto request = take(name, "other");
        const auto told = c.session.acquire(asked ? asks(request) : request);
        BOOST_TEST((told.reply.result == granted_t::held));
        BOOST_TEST(told.reply.remaining.count() > 0);
        return told.reply.details ? told.reply.details->holder : "-";
    };
    BOOST_TEST((c.session.acquire(asks(take("lock", owner))).reply.result == granted_t::granted));
    BOOST_TEST(holder("lock") == "0e0f8c21");
    BOOST_TEST(holder("lock", false) == "-");
    acquire_request entry = take("lock", owner);
    entry.entry = "11111111-1111-1111-1111-111111111111:1";
    BOOST_TEST((c.session.acquire(entry).reply.result == granted_t::granted));
    for (int i = 0; i < 20; ++i) // one of the fields is chosen at random
        BOOST_TEST(holder("lock") == "0e0f8c21");
    for (const char* odd : {"mode", "short-3a1c-4a50-9cd4-0b8a5d4e7f10:1", "5e0f8c21:17", "x"}) {
        lab.command({"DEL", "odd"});
        lab.command({"HSET", "odd", odd, "1"});
        lab.command({"PEXPIRE", "odd", "10000"});
        BOOST_TEST(holder("odd") == "-");
    }

    // Without the right, the holder is requested once per connection.
    lab.command({"ACL", "SETUSER", "default", "-hrandfield"});
    BOOST_TEST(holder("lock") == "-");
    lab.command({"ACL", "LOG", "RESET"});
    BOOST_TEST(holder("lock") == "-");
    BOOST_TEST(lab.command({"ACL", "LOG"}) == "");
    lab.command({"ACL", "SETUSER", "default", "+hrandfield"});
    BOOST_TEST(holder("lock") == "-");
    const int connected = c.session.connected;
    lab.cut();
    run_until(c.context, [&] { return c.session.connected > connected; });
    BOOST_TEST(holder("lock") == "0e0f8c21");
}

// A retry cannot fix these errors: they are reported at once, with the server's message.
BOOST_AUTO_TEST_CASE(permanent_error_of_a_server_is_reported_at_once)
{
    struct row
    {
        std::vector<std::string> options;
        resp_client::words command; ///< Sent first, if not empty.
        std::uint32_t database;
        errc code;
        const char* words;
    };
    const auto without = [](const char* command) {
        return row{{"--rename-command", command, ""}, {}, 0, errc::not_supported, command};
    };
    const auto forbidden = [](const char* command) {
        return row{{},
                   {"ACL", "SETUSER", "default", '-' + std::string(command)},
                   0,
                   errc::permission_denied,
                   command};
    };
    const reserved_port bus;
    const std::vector<std::string> cluster{"--cluster-enabled", "yes", "--cluster-port",
                                           std::to_string(bus.number())};
    // A Valkey 9 in a cluster may have several databases.
    const bool several = own_lab(cluster).command({"SELECT", "1"}).find("range") !=
                         std::string::npos;
    const row rows[] = {
        {{}, {}, 16, errc::invalid_option, "DB index is out of range"},
        {{"--databases", "1"}, {}, 1, errc::invalid_option, "DB index is out of range"},
        {cluster, {}, 0, errc::not_supported, "Redis Cluster"},
        several ? row{cluster, {}, 1, errc::invalid_option, "DB index is out of range"}
                : row{cluster, {}, 1, errc::not_supported, "cluster"},
        without("EVALSHA"),
        without("HELLO"),
        without("TIME"),
        without("PTTL"),
        without("PEXPIRE"),
        without("HSET"),
        without("HDEL"),
        without("DEL"),
        forbidden("evalsha"),
        forbidden("time"),
        forbidden("pttl"),
        forbidden("pexpire"),
        forbidden("hset"),
        forbidden("hincrby"),
        forbidden("get"),
        forbidden("select"),
    };
    for (const row& each : rows)
        BOOST_TEST_CONTEXT(each.words)
        {
            own_lab lab(each.options);
            if (!each.command.empty())
                BOOST_TEST(lab.command(each.command) == "OK");
            redis_config settings = at(lab.server);
            settings.database = each.database;
            if (each.words == std::string_view("select"))
                settings.database = 1;
            asio::io_context context;
            store_session session(context, make_redis_store(settings));
            run_until(context, [&] { return session.disconnected > 0; });
            BOOST_TEST((session.why == each.code));
            BOOST_TEST(session.connected == 0);
            const auto refused = session.acquire(take("lock", "a:1"));
            BOOST_TEST((refused.code == each.code));
            BOOST_REQUIRE(refused.reply.details);
            const diagnostics& more = *refused.reply.details;
            BOOST_TEST(more.server == lab.server.socket());
            BOOST_TEST(more.key == "lock");
            BOOST_TEST_CONTEXT(more.server_message)
            BOOST_TEST(
                (lowered(more.server_message).find(lowered(each.words)) != std::string::npos));
            const renewal one[] = {{"lock", "a:1", 10s}};
            const auto renewed = session.renew(one);
            BOOST_TEST((renewed.code == each.code));
            BOOST_REQUIRE(renewed.reply.details);
            BOOST_TEST(renewed.reply.details->server_message == more.server_message);
            BOOST_TEST((session.release(leave("lock", "a:1")).code == each.code));
        }
}

// An application's connection gets the same, and again until the reason is removed.
BOOST_AUTO_TEST_CASE(restored_right_lets_the_client_connect)
{
    for (const bool borrowed : both) {
        const auto lab = make_lab(borrowed);
        lab->command({"ACL", "SETUSER", "default", "-pexpire"});
        asio::io_context context;
        store_session session(context, lab->make_store());
        run_until(context, [&] { return session.disconnected > 0; });
        BOOST_TEST((session.why == errc::permission_denied));
        BOOST_TEST(lab->command({"DBSIZE"}) == "0"); // the check leaves nothing behind
        lab->command({"ACL", "SETUSER", "default", "+pexpire"});
        session.wait_until_connected();
        BOOST_TEST((session.acquire(take("lock", "a:1")).reply.result == granted_t::granted));
    }
}

// The right is revoked while a lock is held: a lock that is not reported gone is not gone.
BOOST_AUTO_TEST_CASE(revoked_right_fails_a_renewal_without_losing_the_lock)
{
    for (const bool borrowed : both) {
        for (const char* right : {"pexpire", "pttl", "evalsha"}) {
            const auto lab = make_lab(borrowed);
            client_of c(*lab);
            BOOST_REQUIRE(
                (c.session.acquire(take("lock", "a:1")).reply.result == granted_t::granted));
            lab->command({"ACL", "SETUSER", "default", '-' + std::string(right)});
            BOOST_TEST_CONTEXT(right)
            {
                const renewal one[] = {{"lock", "a:1", 60s}};
                const auto renewed = c.session.renew(one);
                BOOST_TEST((renewed.code == errc::permission_denied));
                BOOST_TEST((renewed.reply.results.at(0) == renewal_result::failed));
                BOOST_REQUIRE(renewed.reply.details);
                BOOST_TEST(renewed.reply.details->key == "lock");
                BOOST_TEST(renewed.reply.details->server_message != "");
                // A free lock is acquired without this right.
                if (std::string_view(right) != "pttl") {
                    BOOST_TEST(
                        (c.session.acquire(take("other", "a:2")).code == errc::permission_denied));
                    BOOST_TEST(lab->command({"EXISTS", "other"}) == "0");
                }
                lab->command({"ACL", "SETUSER", "default", '+' + std::string(right)});
                BOOST_TEST((c.session.renew(one).reply.results.at(0) == renewal_result::renewed));
            }
        }
    }
}

// Only locks that this user may not access are rejected.
BOOST_AUTO_TEST_CASE(failed_renewal_does_not_affect_the_other_locks)
{
    own_lab lab;
    client_of c(lab);
    for (const char* name : {"mine:1", "mine:2", "mine:3"})
        BOOST_REQUIRE((c.session.acquire(take(name, "a:1")).reply.result == granted_t::granted));
    lab.command({"SET", "mine:2", "text"});
    const renewal some[] = {{"mine:1", "a:1", 60s}, {"mine:2", "a:1", 60s}, {"mine:3", "a:1", 60s}};
    const auto renewed = c.session.renew(some);
    BOOST_TEST((renewed.reply.results == std::vector{renewal_result::renewed, renewal_result::gone,
                                                     renewal_result::renewed}));
    lab.command({"CONFIG", "SET", "maxmemory", "1"});
    BOOST_TEST((c.session.renew(some).reply.results.at(0) == renewal_result::renewed));
}

// A reentrant acquisition that was not counted leaves no mark, which would keep the lock from being
// freed.
BOOST_AUTO_TEST_CASE(rejected_reentrant_acquisition_is_not_stored)
{
    own_lab lab;
    client_of c(lab);
    BOOST_REQUIRE((c.session.acquire(take("lock", "a:1")).reply.result == granted_t::granted));
    lab.command({"ACL", "SETUSER", "default", "-hincrby"});
    BOOST_TEST((c.session.acquire(again("lock", "a:1", "a:2")).code == errc::permission_denied));
    BOOST_TEST(lab.command({"HLEN", "lock"}) == "1");
    BOOST_TEST((c.session.release(leave("lock", "a:1")).reply.result == released_t::freed));
}

// An administrator removed the TTL.
BOOST_AUTO_TEST_CASE(lock_without_a_ttl_can_be_acquired_reentrantly)
{
    own_lab redisson;
    native_lab native;
    for (own_lab* const lab : {&redisson, static_cast<own_lab*>(&native)}) {
        client_of c(*lab);
        BOOST_REQUIRE((c.session.acquire(take("lock", "a:1")).reply.result == granted_t::granted));
        lab->command({"PERSIST", "lock"});
        const auto reentered = c.session.acquire(again("lock", "a:1", "a:2"));
        BOOST_TEST((reentered.reply.result == granted_t::granted));
        BOOST_TEST(lab->command({"PTTL", "lock"}) == "-1");
        const release_request entry{.name = "lock", .owner = "a:1", .entry = "a:2"};
        BOOST_TEST((c.session.release(entry).reply.result == released_t::still_held));
        BOOST_TEST((c.session.release(leave("lock", "a:1")).reply.result == released_t::freed));
        BOOST_TEST(lab->command({"EXISTS", "lock"}) == "0");
    }
}

// A client that gets no wake-up may still wait.
BOOST_AUTO_TEST_CASE(receivers_are_known_only_with_rights_to_publish_and_subscribe)
{
    own_lab lab;
    const auto known = [&](store_session& s) {
        BOOST_REQUIRE((s.acquire(take("lock", "a:1")).reply.result == granted_t::granted));
        const auto left = s.release(leave("lock", "a:1"));
        BOOST_TEST((left.reply.result == released_t::freed));
        return left.reply.receivers_known;
    };
    {
        client_of c(lab);
        BOOST_TEST(known(c.session));
        lab.command({"ACL", "SETUSER", "default", "-publish"});
        BOOST_TEST(!known(c.session));
        lab.command({"ACL", "SETUSER", "default", "+publish", "-subscribe"});
        BOOST_TEST(known(c.session)); // as far as this client knows
        c.session.watch("lock");
        run_until(c.context, [&] { return !known(c.session); });
        lab.command({"ACL", "SETUSER", "default", "+subscribe"});
    }
    redis_application application(lab.server.socket());
    asio::io_context context;
    store_session without(
        context, make_redis_store(application.connection(), redis_config::key_layout::redisson));
    without.wait_until_connected();
    BOOST_TEST(!known(without));
}

BOOST_AUTO_TEST_CASE(layout_can_be_chosen_without_wake_ups)
{
    own_lab lab;
    redis_application application(lab.server.socket());
    asio::io_context context;
    const auto type_of_a_lock = [&](std::shared_ptr<store> keeps) {
        store_session session(context, std::move(keeps));
        session.wait_until_connected();
        BOOST_TEST((session.acquire(take("lock", "a:1")).reply.result == granted_t::granted));
        const std::string type = lab.command({"TYPE", "lock"});
        BOOST_TEST((session.release(leave("lock", "a:1")).reply.result == released_t::freed));
        return type;
    };
    using layout = redis_config::key_layout;
    const auto connection = application.connection();
    BOOST_TEST(type_of_a_lock(make_redis_store(connection)) == "string");
    BOOST_TEST(type_of_a_lock(make_redis_store(connection, layout::native)) == "string");
    BOOST_TEST(type_of_a_lock(make_redis_store(connection, layout::redisson)) == "hash");
    BOOST_TEST(type_of_a_lock(make_redis_store(connection, std::nullopt)) == "string");
    redis_config with_wakeups = at(lab.server); // which selects the layout as well
    BOOST_TEST(type_of_a_lock(make_redis_store(connection, with_wakeups)) == "hash");
}

// The application's connection leads to one server, so messages of other servers are useless.
BOOST_AUTO_TEST_CASE(wake_ups_from_several_servers_are_rejected)
{
    own_lab lab;
    redis_application application(lab.server.socket());
    for (const char* url : {"redis+cluster://h1,h2", "redlock://h1,h2,h3"}) {
        try {
            static_cast<void>(make_redis_store(application.connection(), redis_config(url)));
            BOOST_ERROR(url);
        }
        catch (const boost::system::system_error& error) {
            BOOST_TEST((error.code() == errc::invalid_option));
            BOOST_TEST(std::string(error.what()).find("must be server or sentinel") !=
                       std::string::npos);
        }
    }
}

// S3: without memory no new lock is granted, but held locks are renewed and released.
BOOST_AUTO_TEST_CASE(full_server_rejects_acquires_and_still_releases)
{
    own_lab lab;
    client_of c(lab);
    c.session.acquire(take("lock", "a:1"));
    lab.command({"CONFIG", "SET", "maxmemory", "1"});
    BOOST_TEST((c.session.acquire(take("other", "a:2")).code == errc::store_refused));
    const renewal one[] = {{"lock", "a:1", 60s}};
    BOOST_TEST((c.session.renew(one).reply.results.at(0) == renewal_result::renewed));
    BOOST_TEST((c.session.release(leave("lock", "a:1")).reply.result == released_t::freed));
    lab.command({"CONFIG", "SET", "maxmemory", "0"});
    BOOST_TEST((c.session.acquire(take("other", "a:2")).reply.result == granted_t::granted));
}

BOOST_AUTO_TEST_CASE(busy_server_rejects_temporarily)
{
    own_lab lab({"--lua-time-limit", "1"});
    client_of c(lab);
    std::jthread endless([&] { lab.command({"EVAL", "while true do end", "0"}); });
    while (!lab.command({"PING"}).starts_with("-BUSY")) {
    }
    BOOST_TEST((c.session.acquire(take("lock", "a:1")).code == errc::store_refused));
    lab.command({"SCRIPT", "KILL"});
    endless.join();
    BOOST_TEST((c.session.acquire(take("lock", "a:1")).reply.result == granted_t::granted));
    BOOST_TEST(c.session.disconnected == 0);
}

// S2
BOOST_AUTO_TEST_CASE(user_without_scripts_gets_permission_denied)
{
    own_lab lab;
    lab.command({"ACL", "SETUSER", "default", "-eval", "-evalsha"});
    asio::io_context context;
    store_session session(context, lab.make_store());
    run_until(context, [&] { return session.disconnected > 0; });
    BOOST_TEST((session.acquire(take("lock", "a:1")).code == errc::permission_denied));
    const renewal one[] = {{"lock", "a:1", 60s}};
    const auto renewed = session.renew(one);
    BOOST_TEST((renewed.code == errc::permission_denied));
    BOOST_TEST((renewed.reply.results.at(0) == renewal_result::failed));
}

BOOST_AUTO_TEST_CASE(user_without_script_load_and_publish_can_lock)
{
    own_lab lab;
    lab.command({"ACL", "SETUSER", "default", "-script", "resetchannels", "-publish"});
    client_of c(lab);
    c.session.watch("lock"); // rejected, without an effect on the commands
    for (int i = 0; i < 20; ++i) {
        BOOST_TEST((c.session.acquire(take("lock", "a:1")).reply.result == granted_t::granted));
        BOOST_TEST((c.session.release(leave("lock", "a:1")).reply.result == released_t::freed));
    }
    BOOST_TEST(c.session.wakeups.empty());
    BOOST_TEST(c.session.disconnected == 0);
}

BOOST_AUTO_TEST_CASE(wrong_password_is_reported_and_never_connects)
{
    own_lab lab({"--requirepass", "right"});
    redis_config settings = at(lab.server);
    asio::io_context context;
    settings.password = "wrong";
    store_session session(context, make_redis_store(settings));
    run_until(context, [&] { return session.disconnected > 0; });
    BOOST_TEST((session.why == errc::permission_denied));
    BOOST_TEST((session.acquire(take("lock", "a:1")).code == errc::permission_denied));
    session.wait(30ms); // some more attempts
    BOOST_TEST(session.disconnected == 1);
    BOOST_TEST(session.connected == 0);

    settings.password = "right";
    store_session other(context, make_redis_store(settings));
    other.wait_until_connected();
    BOOST_TEST((other.acquire(take("lock", "b:1")).reply.result == granted_t::granted));
}

BOOST_AUTO_TEST_CASE(database_and_user_of_the_settings_are_used)
{
    own_lab lab;
    lab.command({"ACL", "SETUSER", "alice", "on", ">word", "~*", "&*", "+@all"});
    redis_config settings = at(lab.server);
    settings.user = "alice";
    settings.password = "word";
    settings.database = 3;
    asio::io_context context;
    store_session session(context, make_redis_store(settings));
    session.wait_until_connected();
    session.acquire(take("lock", "a:1"));
    BOOST_TEST(lab.command({"EXISTS", "lock"}) == "0");
    BOOST_TEST(lab.command({"SWAPDB", "0", "3"}) == "OK");
    BOOST_TEST(lab.command({"EXISTS", "lock"}) == "1");
    BOOST_TEST(lab.command({"ACL", "WHOAMI"}) == "default");
}

// 10: a master that was made a replica still answers. The client reconnects until the server is a
// master again.
BOOST_AUTO_TEST_CASE(demoted_server_is_disconnected_until_it_is_master_again)
{
    own_lab lab;
    client_of c(lab);
    lab.command({"REPLICAOF", "127.0.0.1", "1"});
    BOOST_TEST((c.session.acquire(take("lock", "a:1")).code == errc::store_refused));
    run_until(c.context, [&] { return c.session.disconnected == 1; });
    BOOST_TEST((c.session.why == errc::store_refused));
    lab.command({"REPLICAOF", "NO", "ONE"});
    run_until(c.context, [&] { return c.session.connected > c.session.disconnected; });
    BOOST_TEST((c.session.acquire(take("lock", "a:1")).reply.result == granted_t::granted));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(faults)

// Q6, W4, 7: all data is lost, the fences still rise, and waiters are woken to poll.
BOOST_AUTO_TEST_CASE(fences_rise_after_an_emptied_server)
{
    for (const bool borrowed : both) {
        const auto lab = make_lab(borrowed);
        client_of c(*lab);
        c.session.watch("lock");
        c.session.wait_for_wakeups(1);
        const auto before = c.session.acquire(take("lock", "a:1"));
        lab->command({"FLUSHALL"});
        lab->command({"SCRIPT", "FLUSH"});
        lab->cut();

        c.session.wait_for_wakeups(2);
        // An application's connection shows its loss when it is used.
        acquire_reply after;
        run_until(c.context, [&] {
            const auto tried = c.session.acquire(take("lock", "a:2"));
            after = tried.reply;
            return !tried.code.failed();
        });
        BOOST_TEST((after.result == granted_t::granted));
        BOOST_TEST(after.first_fence > before.reply.first_fence);
        const renewal lost[] = {{"lock", "a:1", 10s}};
        BOOST_TEST((c.session.renew(lost).reply.results.at(0) == renewal_result::gone));
        BOOST_TEST(c.session.release(leave("lock", "a:2")).reply.receivers == 1u);
        c.session.wait_for_wakeups(3);
        BOOST_TEST(c.session.connected == c.session.disconnected + 1);
    }
}

// 6, 7: the counter is an older one, and the requested blocks of fences have the maximum size.
BOOST_AUTO_TEST_CASE(fences_rise_over_an_older_counter_with_large_blocks)
{
    own_lab lab;
    client_of c(lab);
    const auto grant = [&](std::string_view owner) {
        acquire_request request = take("lock", owner);
        request.fences = 1'000'001;
        const auto got = c.session.acquire(request);
        BOOST_TEST((got.reply.result == granted_t::granted));
        BOOST_TEST((c.session.release(leave("lock", owner)).reply.result == released_t::freed));
        return got.reply;
    };
    const std::string counter = "redisson_lock_token:{lock}";
    std::uint64_t last = grant("a:1").first_fence;
    const std::string old = lab.command({"GET", counter});
    c.session.wait(600ms); // so that a block could reach back by as much
    for (int i = 0; i < 3; ++i) {
        const auto block = grant("a:" + std::to_string(10 + i));
        BOOST_TEST(block.fences > 1u);
        BOOST_TEST(block.first_fence > last);
        last = block.first_fence + block.fences - 1;
        c.session.wait(10ms); // no server restarts any faster
        lab.command({"SET", counter, old});
    }
}

// The last fence is the largest integer that a double represents exactly.
BOOST_AUTO_TEST_CASE(exhausted_counter_is_rejected_and_left_unchanged)
{
    own_lab lab;
    client_of c(lab);
    const std::string counter = "redisson_lock_token:{lock}";
    lab.command({"SET", counter, "9007199254740990"});
    const auto last = c.session.acquire(take("lock", "a:1"));
    BOOST_TEST(!last.code.failed());
    BOOST_TEST(last.reply.first_fence == 9007199254740991u);
    BOOST_TEST((c.session.release(leave("lock", "a:1")).reply.result == released_t::freed));
    for (const char* end : {"9007199254740991", "9007199254740992", "1e300", "1.5", "nan"})
        BOOST_TEST_CONTEXT(end)
        {
            lab.command({"SET", counter, end});
            BOOST_TEST((c.session.acquire(take("lock", "a:2")).code == errc::wrong_type));
            BOOST_TEST(lab.command({"EXISTS", "lock"}) == "0");
            BOOST_TEST(lab.command({"GET", counter}) == end);
        }
}

BOOST_AUTO_TEST_CASE(infinite_retention_removes_the_ttl_of_a_counter)
{
    own_lab lab;
    const std::string counter = "redisson_lock_token:{lock}";
    redis_config limited = at(lab.server);
    limited.fence_retention = 60s;
    redis_config for_ever = at(lab.server);
    for_ever.fence_retention = redis_config::forever;
    asio::io_context context;
    store_session a(context, make_redis_store(limited)), b(context, make_redis_store(for_ever));
    a.wait_until_connected();
    b.wait_until_connected();
    const auto first = a.acquire(take("lock", "a:1"));
    BOOST_TEST(std::stol(lab.command({"PTTL", counter})) > 0);
    a.release(leave("lock", "a:1"));
    const auto second = b.acquire(take("lock", "b:1"));
    BOOST_TEST(second.reply.first_fence > first.reply.first_fence);
    BOOST_TEST(lab.command({"PTTL", counter}) == "-1");
}

BOOST_AUTO_TEST_CASE(repeatedly_lost_connection_is_restored_each_time)
{
    own_lab lab;
    client_of c(lab);
    c.session.watch("lock");
    for (int i = 1; i <= 20; ++i) {
        c.session.wait_for_wakeups(static_cast<std::size_t>(i));
        lab.cut();
        run_until(c.context,
                  [&] { return c.session.disconnected == i && c.session.connected == i + 1; });
        const std::string owner = std::to_string(i);
        BOOST_TEST((c.session.acquire(take(owner, owner)).reply.result == granted_t::granted));
    }
}

BOOST_AUTO_TEST_CASE(missing_server_is_reported_once_as_unavailable)
{
    asio::io_context context;
    redis_config settings;
    settings.reconnect = 1ms;
    settings.unix_socket = "/nonexistent/socket";
    store_session session(context, make_redis_store(settings));
    BOOST_TEST((session.acquire(take("lock", "a:1")).code == errc::store_unavailable));
    run_until(context, [&] { return session.disconnected > 0; });
    BOOST_TEST((session.why == errc::store_unavailable));
    BOOST_TEST((session.acquire(take("lock", "a:1")).code == errc::store_unavailable));
    session.wait(20ms);
    BOOST_TEST(session.disconnected == 1); // the same reason is reported once
    const renewal one[] = {{"lock", "a:1", 10s}};
    BOOST_TEST((session.renew(one).code == errc::store_unavailable));
    BOOST_TEST((session.release(leave("lock", "a:1")).code == errc::store_unavailable));
    session.watch("lock");
    session.wait(10ms);
    BOOST_TEST(session.wakeups.empty());
}

// 6: the command is in the socket of a stopped server, and is executed when its waiter has timed
// out.
BOOST_AUTO_TEST_CASE(late_acquire_of_a_stopped_server_takes_nothing)
{
    for (const bool borrowed : both) {
        const auto lab = make_lab(borrowed);
        redis_config settings = at(lab->server);
        settings.timeout = 30ms;
        const auto app = borrowed ? std::make_unique<redis_application>(lab->server.socket())
                                  : nullptr;
        asio::io_context context;
        store_session session(context, borrowed ? make_redis_store(app->connection(), settings)
                                                : make_redis_store(settings));
        session.wait_until_connected();
        lab->command({"CLIENT", "PAUSE", "200", "ALL"});
        acquire_request request = take("lock", "a:1");
        request.budget = 30ms;
        BOOST_TEST((session.acquire(request).code == errc::outcome_unknown));
        // The late reply to the first request has no caller, and the next request gets its own. The
        // first one rejected itself.
        run_until(context, [&] {
            const auto next = session.acquire(take("lock", "b:1"));
            return !next.code.failed() && next.reply.result == granted_t::granted;
        });
    }
}

BOOST_AUTO_TEST_CASE(acquire_after_its_budget_is_rejected_by_the_server)
{
    own_lab lab;
    client_of c(lab);
    lab.command({"CLIENT", "PAUSE", "100", "ALL"});
    acquire_request request = take("lock", "a:1");
    request.budget = 20ms;
    BOOST_TEST((c.session.acquire(request).reply.result == granted_t::late));
    BOOST_TEST(lab.command({"EXISTS", "lock", "redisson_lock_token:{lock}"}) == "0");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(lifetime)

BOOST_AUTO_TEST_CASE(invalid_store_settings_are_rejected)
{
    const auto refused = [](auto make) {
        BOOST_CHECK_EXCEPTION(make(), boost::system::system_error, [](const auto& error) {
            return error.code() == errc::invalid_option;
        });
    };
    refused([] { return make_redis_store(std::shared_ptr<boost::redis::connection>()); });
    refused([] { return make_redis_store(nullptr, redis_config()); });
    refused([] { return make_redis_store(redis_config("rediss://host?ca=/nonexistent")); });
    refused([] {
        redis_config none;
        none.addresses.clear();
        return make_redis_store(none);
    });
}

// The context ends first, with outstanding requests. No handler is kept, and the store is unusable
// afterwards.
BOOST_AUTO_TEST_CASE(context_destroyed_with_outstanding_requests_keeps_nothing)
{
    for (const bool borrowed : both) {
        for (const bool connected : both) {
            const auto lab = make_lab(borrowed);
            const auto store = lab->make_store();
            const auto token = std::make_shared<int>();
            counting_listener ears;
            {
                asio::io_context context;
                store->open(asio::make_strand(context), ears);
                if (connected)
                    run_until(context, [&] { return ears.connected > 0; });
                store->watch("lock");
                context.poll();
                for (const char* name : {"one", "two"}) {
                    store->async_acquire(take(name, "a:1"), [token](error_code, acquire_reply) {});
                    store->async_release(leave(name, "a:1"), [token](error_code, release_reply) {});
                    if (connected)
                        context.poll();
                }
                store->watch("other");
            }
            BOOST_TEST_CONTEXT("borrowed " << borrowed << ", connected " << connected)
            BOOST_TEST(token.use_count() == 1);
            store->async_acquire(take("lock", "a:2"), [token](error_code, acquire_reply) {});
            store->unwatch("lock");
            store->close();
            BOOST_TEST(token.use_count() == 1);
        }
    }
}

// The connection's context ends while the client continues.
BOOST_AUTO_TEST_CASE(destroyed_application_connection_fails_outstanding_requests)
{
    own_lab lab;
    auto app = std::make_unique<redis_application>(lab.server.socket());
    asio::io_context context;
    store_session session(context, make_redis_store(app->connection()));
    session.wait_until_connected();
    lab.command({"CLIENT", "PAUSE", "100", "ALL"});
    int answers = 0;
    session.on_the_strand([&] {
        session.get().async_acquire(take("lock", "a:1"), [&](error_code code, acquire_reply) {
            BOOST_TEST((code == condition::store_fault));
            ++answers;
        });
    });
    context.poll();
    app.reset();
    run_until(context, [&] { return answers == 1; });
    BOOST_TEST((session.acquire(take("lock", "a:1")).code == errc::store_unavailable));
    session.watch("lock"); // no effect without wake-ups
    BOOST_TEST(session.disconnected >= 1);
}

BOOST_AUTO_TEST_CASE(store_destroyed_without_close_completes_its_requests)
{
    for (const bool borrowed : both) {
        const auto lab = make_lab(borrowed);
        counting_listener ears;
        asio::io_context context;
        auto store = lab->make_store();
        store->open(asio::make_strand(context), ears);
        run_until(context, [&] { return ears.calls > 0; });
        int answers = 0;
        store->watch("lock");
        store->async_acquire(take("lock", "a:1"), [&](error_code, acquire_reply) { ++answers; });
        const int calls = ears.calls;
        store.reset();
        run_until(context, [&] {
            return answers == 1;
        }); // a borrowed connection completes it on another context
        context.restart();
        context.run(); // returns, because no work is left
        BOOST_TEST_CONTEXT("borrowed " << borrowed)
        BOOST_TEST(answers == 1);
        BOOST_TEST(ears.calls == calls);
    }
}

BOOST_AUTO_TEST_SUITE_END()
