// A server, or a proxy before it, that sends malformed input. For each of these inputs, the parser
// of Boost.Redis 1.92 ends the process or reads another value
// (docs/internals/boost_redis_parser.md). Here the connection ends instead, and the next one
// continues.
#include <boost/test/unit_test.hpp>

#include "support/client_thread.hpp"
#include "support/forging_proxy.hpp"
#include "support/redis_server.hpp"
#include "support/tested_layout.hpp"

#include <leasehold/error.hpp>

#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using namespace std::string_literals;
using kind = recording_observer::kind;
using pieces = forging_proxy::pieces;

const std::string stock = "stock";
/// A text that occurs only in acquires, and not in the first request of a new connection.
std::string in_acquires()
{
    return tested_layout() == redis_config::key_layout::native ? "\r\nNX\r\n" : fence_key_of(stock);
}

std::string repeat(const std::string& text, std::size_t times)
{
    std::string all;
    for (std::size_t i = 0; i < times; ++i)
        all += text;
    return all;
}

const std::vector<std::string> malformed = {
    "$\r\n",
    "!\r\n",
    "=\r\n",
    "*\r\n",
    ";0\r\n",
    ";5\r\nhello\r\n;0\r\n",
    repeat("$?\r\n", 20),
    "=?\r\n!?\r\n" + repeat("=?\r\n", 18),
    repeat("*1\r\n", 5) + repeat("$?\r\n", 8),
    repeat("*1\r\n", 6) + ":1\r\n",
    "$18446744073709551615\r\n+OK\r\n+OK\r\n",
    "$18446744073709551614\r\n+OK\r\n+OK\r\n",
    "$-2\r\n",
    "$3abc\r\nfoo\r\n",
    "$3\r\nfooXY",
    "%9223372036854775809\r\n+k\r\n+v\r\n",
    "*99999999999\r\n:1\r\n",
    "\r\n",
    std::string("\0\r\n", 3),
    "HTTP/1.1 400 Bad Request\r\n\r\n",
};

pieces split_at(const std::string& bytes, std::size_t at)
{
    return {bytes.substr(0, at), bytes.substr(at)};
}

pieces byte_by_byte(const std::string& bytes)
{
    pieces all;
    for (const char each : bytes)
        all.emplace_back(1, each);
    return all;
}

/// Each of the malformed inputs behind this well-formed prefix: at once, in two pieces however it
/// is split (long inputs near their beginning), and byte by byte.
std::vector<pieces> forgeries(const std::string& before)
{
    std::vector<pieces> all;
    for (const std::string& each : malformed) {
        const std::string bytes = before + each;
        all.push_back({bytes});
        for (std::size_t at = 1; at < std::min(bytes.size(), before.size() + 8); ++at)
            all.push_back(split_at(bytes, at));
        all.push_back(byte_by_byte(bytes));
    }
    return all;
}

/// Each malformed input once.
std::vector<pieces> one_of_each(const std::string& before = {})
{
    std::vector<pieces> all;
    for (const std::string& each : malformed)
        all.push_back({before + each});
    return all;
}

lock_options options(std::chrono::milliseconds wait_limit = 25s)
{
    lock_options result;
    result.lease_time = 60s;
    result.wait_limit = wait_limit;
    return result;
}

/// A lock can be acquired, whatever happened to the connections.
void lock_works(client_thread& user)
{
    taken held = user.lock(stock, options());
    BOOST_TEST(!held.code, held.code.message());
    BOOST_TEST(held.held.valid());
    BOOST_TEST(!user.release(std::move(held.held)));
}

struct deployment
{
    redis_server server;
    forging_proxy proxy;

    explicit deployment(bool tcp = false) : proxy(server, tcp) {}
};

} // namespace

BOOST_AUTO_TEST_CASE(malformed_greeting_ends_the_connection_only)
{
    deployment there;
    for (const std::string& before : {""s, "%1\r\n$6\r\nserver\r\n"s}) {
        there.proxy.forge("HELLO", forgeries(before));
        client_thread user(at(there.proxy.url()));
        there.proxy.wait_until_ended();
        BOOST_TEST(there.proxy.left() == 0u);
        lock_works(user);
        for (const auto& each : user.seen().events(kind::disconnected))
            BOOST_TEST((each.code == errc::store_unavailable), each.code.message());
    }
}

BOOST_AUTO_TEST_CASE(malformed_reply_ends_the_connection_only)
{
    deployment there;
    client_thread user(at(there.proxy.url()));
    user.seen().wait_for(kind::connected);
    for (const std::string& before : {""s, "*4\r\n:1\r\n"s}) {
        there.proxy.forge(in_acquires(), forgeries(before));
        while (there.proxy.left() != 0) {
            taken held = user.try_lock(stock, options());
            const bool proper = !held.code || held.code == errc::outcome_unknown ||
                                held.code == errc::store_unavailable;
            BOOST_TEST(proper, held.code.message());
        }
        there.proxy.wait_until_ended();
        lock_works(user);
    }
}

BOOST_AUTO_TEST_CASE(malformed_push_ends_the_connection_only)
{
    deployment there;
    client_thread holder(there.server);
    for (const std::string& before : {""s, ">3\r\n$7\r\nmessage\r\n"s}) {
        client_thread waiter(at(there.proxy.url())); // a client that has not waited yet
        waiter.seen().wait_for(kind::connected);
        taken held = holder.lock(stock, options());
        BOOST_TEST_REQUIRE(!held.code, held.code.message());
        there.proxy.forge("SUBSCRIBE", forgeries(before));
        auto waiting = waiter.start_lock(stock, options(60s));
        there.proxy.wait_until_ended();
        BOOST_TEST(!holder.release(std::move(held.held)));
        taken next = get(waiting);
        BOOST_TEST(!next.code, next.code.message());
        BOOST_TEST(!waiter.release(std::move(next.held)));
        // The commands have a separate connection, which is not affected.
        BOOST_TEST(waiter.seen().count(kind::connected) == 1u);
    }
}

BOOST_AUTO_TEST_CASE(malformed_greeting_of_the_wake_up_connection_ends_it_only)
{
    deployment there;
    client_thread holder(there.server);
    client_thread waiter(at(there.proxy.url()));
    waiter.seen().wait_for(kind::connected);
    taken held = holder.lock(stock, options());
    BOOST_TEST_REQUIRE(!held.code, held.code.message());
    there.proxy.forge("HELLO", one_of_each());
    auto waiting = waiter.start_lock(stock, options());
    there.proxy.wait_until_ended();
    BOOST_TEST(!holder.release(std::move(held.held)));
    taken next = get(waiting);
    BOOST_TEST(!next.code, next.code.message());
    BOOST_TEST(!waiter.release(std::move(next.held)));
}

BOOST_AUTO_TEST_CASE(lock_at_a_server_with_only_malformed_replies_fails)
{
    deployment there;
    client_thread user(at(there.proxy.url()));
    user.seen().wait_for(kind::connected);
    there.proxy.forge(stock, std::vector<pieces>(100'000, pieces{"$\r\n"}));
    const taken refused = user.lock(stock, options(300ms));
    const bool proper = refused.code == errc::outcome_unknown ||
                        refused.code == errc::store_unavailable;
    BOOST_TEST(proper, refused.code.message());
    BOOST_TEST((refused.code == condition::store_fault));
    there.proxy.forge("", {});
    lock_works(user);
}

// Replies before the malformed input are not lost: the error of the server explains more than the
// end of the connection.
BOOST_AUTO_TEST_CASE(reply_before_malformed_input_counts)
{
    deployment there;
    there.proxy.forge(
        "HELLO", std::vector<pieces>(100'000, pieces{"-NOAUTH Authentication required.\r\n$\r\n"}));
    client_thread user(at(there.proxy.url()));
    user.seen().wait_for(kind::disconnected);
    const auto events = user.seen().events(kind::disconnected);
    BOOST_TEST((events.front().code == errc::permission_denied), events.front().code.message());
    const taken refused = user.lock(stock, options(200ms));
    BOOST_TEST((refused.code == errc::permission_denied), refused.code.message());
}

BOOST_AUTO_TEST_CASE(malformed_reply_of_a_sentinel_ends_the_connection_only)
{
    deployment there(true);
    there.proxy.forge("HELLO", one_of_each());
    client_thread user(
        at("redis+sentinel://127.0.0.1:" + std::to_string(there.proxy.port()) + "/main"));
    there.proxy.wait_until_ended();
    BOOST_TEST(there.proxy.left() == 0u);
    // When all malformed inputs are used, the answering server is not a Sentinel.
    for (const auto& each : user.seen().events(kind::disconnected))
        BOOST_TEST((each.code == errc::store_unavailable || each.code == errc::not_supported),
                   each.code.message());
}

// Here the library does not know the type of the executor.
BOOST_AUTO_TEST_CASE(malformed_input_is_survived_on_a_thread_pool)
{
    deployment there;
    there.proxy.forge("HELLO", one_of_each());
    boost::asio::thread_pool pool(1);
    client user(pool.get_executor(), make_redis_store(at(there.proxy.url())));
    std::promise<void> ended;
    user.async_run([&](error_code) { ended.set_value(); });
    there.proxy.wait_until_ended();
    std::promise<error_code> locked;
    mutex(user, stock, options()).async_lock([&](error_code code, lease held) {
        held = lease();
        locked.set_value(code);
    });
    BOOST_TEST(!get(locked.get_future()));
    user.cancel();
    get(ended.get_future());
    pool.join();
}
