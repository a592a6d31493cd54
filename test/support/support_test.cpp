// Tests of the test support: every fault that it offers takes effect.
#include <boost/test/unit_test.hpp>

#include "support/fault_proxy.hpp"
#include "support/process.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"
#include "support/sentinel_deployment.hpp"
#include "support/shifted_clock.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace leasehold::test;
using namespace std::chrono_literals;

bool accepts(const stream_endpoint& endpoint)
{
    try {
        resp_client probe(endpoint, 2s);
        return true;
    }
    catch (const resp_disconnected&) {
        return false;
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(resp)

BOOST_AUTO_TEST_CASE(every_type_is_parsed_and_every_prefix_is_incomplete)
{
    const std::string all =
        "*9\r\n+OK\r\n-ERR "
        "no\r\n:-7\r\n$3\r\na\r\n\r\n$-1\r\n*-1\r\n%1\r\n+k\r\n#t\r\n~1\r\n_\r\n=5\r\ntxt:x\r\n";
    const auto parsed = parse_resp(all + "+next\r\n");
    BOOST_TEST_REQUIRE(parsed.has_value());
    BOOST_TEST(parsed->second == all.size());
    BOOST_TEST(describe(parsed->first) ==
               "[OK, error: ERR no, -7, \"a\r\n\", nil, nil, [k, true], [nil], \"x\"]");
    for (std::size_t size = 0; size < all.size(); ++size)
        BOOST_TEST(!parse_resp(all.substr(0, size)).has_value());
    BOOST_TEST((parse_resp(">1\r\n:1\r\n")->first.type == resp_value::kind::push));
    BOOST_TEST(parse_resp("|1\r\n+a\r\n+b\r\n:5\r\n")->first.number == 5);
    BOOST_CHECK_THROW(parse_resp("GET k\r\n"), resp_malformed);
    BOOST_CHECK_THROW(parse_resp("$x\r\n"), resp_malformed);
    BOOST_TEST(parse_resp(make_request({"SET", "", "a\r\n"}))->first.items.at(2).text == "a\r\n");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(client)

BOOST_AUTO_TEST_CASE(replies_are_converted_to_the_requested_type)
{
    redis_server server;
    resp_client client = server.connect();
    BOOST_TEST(client.string({"SET", "k", "7"}) == "OK");
    BOOST_TEST(client.string({"GET", "k"}) == "7");
    BOOST_TEST(client.integer({"GET", "k"}) == 7);
    BOOST_TEST(client.integer({"INCR", "k"}) == 8);
    BOOST_TEST(!client.maybe_string({"GET", "none"}).has_value());
    BOOST_TEST(client.strings({"MGET", "k", "k"}) == (std::vector<std::string>{"8", "8"}),
               boost::test_tools::per_element());
    BOOST_TEST(client.command({"LPUSH", "k", "x"}).is_error());
    BOOST_CHECK_THROW(client.done({"LPUSH", "k", "x"}), resp_unexpected);
    BOOST_CHECK_THROW(client.integer({"SET", "k", "x"}), resp_unexpected);
    BOOST_CHECK_THROW(client.string({"GET", "none"}), resp_unexpected);
    const std::string big(200'000, 'b');
    client.done({"SET", "big", big});
    BOOST_TEST((client.string({"GET", "big"}) == big));
}

BOOST_AUTO_TEST_CASE(calls_and_subscribers_are_counted)
{
    redis_server server;
    resp_client client = server.connect();
    client.reset_calls();
    client.done({"SET", "k", "v"});
    client.done({"SET", "k", "v"});
    BOOST_TEST(client.calls("set") == 2u);
    BOOST_TEST(client.calls("get") == 0u);

    BOOST_TEST(client.channels().empty());
    resp_client listener = server.connect();
    BOOST_TEST(listener.command({"SUBSCRIBE", "c"}).items.at(0).text == "subscribe");
    BOOST_TEST(client.channels() == std::vector<std::string>{"c"},
               boost::test_tools::per_element());
    BOOST_TEST(client.subscribers("c") == 1);
    BOOST_TEST(client.integer({"PUBLISH", "c", "hello"}) == 1);
    BOOST_TEST(listener.receive().items.at(2).text == "hello");
}

BOOST_AUTO_TEST_CASE(unresponsive_server_is_detected)
{
    redis_server server;
    resp_client client = server.connect(100ms);
    client.done({"PING"});
    server.pause();
    BOOST_CHECK_THROW(client.command({"PING"}), resp_disconnected);
    server.resume();
    resp_client other = server.connect();
    other.done({"PING"});
    server.kill();
    BOOST_TEST(other.wait_until_closed());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(server)

BOOST_AUTO_TEST_CASE(server_listens_on_its_own_port_across_restarts)
{
    redis_server one({}, {.tcp = true});
    redis_server two({}, {.tcp = true});
    BOOST_TEST(one.port() != two.port());
    BOOST_TEST(one.url() == "redis://127.0.0.1:" + std::to_string(one.port()));
    BOOST_TEST(one.unix_url() == "unix://" + one.socket());
    resp_client(loopback_endpoint(one.port())).done({"SET", "k", "one"});
    BOOST_TEST(!two.connect().maybe_string({"GET", "k"}).has_value());

    const auto port = one.port();
    one.kill();
    BOOST_TEST(!one.running());
    BOOST_TEST(!accepts(loopback_endpoint(port)));
    BOOST_TEST(!accepts(one.endpoint()));
    one.start();
    BOOST_TEST(one.running());
    BOOST_TEST(one.port() == port);
    BOOST_TEST(!resp_client(loopback_endpoint(port)).maybe_string({"GET", "k"}).has_value());

    redis_server quiet;
    BOOST_CHECK_THROW(quiet.port(), std::logic_error);
    BOOST_TEST(quiet.url() == quiet.unix_url());
}

BOOST_AUTO_TEST_CASE(data_survives_a_restart_with_append_only_file)
{
    redis_server server({"--appendonly", "yes", "--appendfsync", "always"});
    server.connect().done({"SET", "k", "v"});
    server.restart();
    BOOST_TEST(server.connect().string({"GET", "k"}) == "v");
    server.terminate();
    BOOST_TEST(!server.running());
    server.start();
    BOOST_TEST(server.connect().string({"GET", "k"}) == "v");
    server.restart_empty();
    BOOST_TEST(!server.connect().maybe_string({"GET", "k"}).has_value());
}

BOOST_AUTO_TEST_CASE(server_that_cannot_start_throws)
{
    BOOST_CHECK_THROW(redis_server({"--maxmemory-policy", "nonsense"}), std::runtime_error);
}

#if defined(__linux__)
// A test that is killed without cleaning up must leave no server behind.
BOOST_AUTO_TEST_CASE(child_dies_with_the_process_that_started_it)
{
    int ready[2];
    BOOST_TEST_REQUIRE(::pipe(ready) == 0);
    const pid_t middle = ::fork();
    if (middle == 0) {
        const child sleeper({.command = {"sleep", "1000"}});
        const pid_t started = sleeper.pid();
        const bool written = ::write(ready[1], &started, sizeof started) == sizeof started;
        ::raise(written ? SIGKILL : SIGTERM);
    }
    pid_t started = 0;
    BOOST_TEST_REQUIRE(::read(ready[0], &started, sizeof started) ==
                       static_cast<ssize_t>(sizeof started));
    ::waitpid(middle, nullptr, 0);
    // The process that adopts the orphan reaps it later. Only its death counts, so check its state.
    const auto dead = [&] {
        std::ifstream state("/proc/" + std::to_string(started) + "/stat");
        std::string line;
        return !std::getline(state, line) || line.find(") Z") != std::string::npos;
    };
    const auto limit = std::chrono::steady_clock::now() + 10s;
    while (!dead() && std::chrono::steady_clock::now() < limit)
        std::this_thread::sleep_for(1ms);
    BOOST_TEST(dead());
    ::close(ready[0]);
    ::close(ready[1]);
}
#endif

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(proxy)

struct proxied
{
    redis_server server;
    fault_proxy proxy{server};
    resp_client direct = server.connect();

    resp_client connect(std::chrono::milliseconds limit = 10s) const
    {
        return resp_client(proxy.endpoint(), limit);
    }
    bool has(const std::string& key) { return direct.integer({"EXISTS", key}) == 1; }
};

BOOST_FIXTURE_TEST_CASE(proxy_forwards_requests_and_replies, proxied)
{
    resp_client client = connect();
    const std::string big(300'000, 'x');
    client.done({"SET", "k", big});
    BOOST_TEST((client.string({"GET", "k"}) == big));
    resp_client other = connect();
    other.send_bytes(make_request({"SET", "a", "1"}) + make_request({"INCR", "a"}) +
                     make_request({"GET", "a"}));
    BOOST_TEST(other.receive().text == "OK");
    BOOST_TEST(other.receive().number == 2);
    BOOST_TEST(other.receive().text == "2");
    proxy.wait_for_reply_to("INCR");
    const auto count = proxy.count();
    BOOST_TEST(count.accepted == 2u);
    BOOST_TEST(count.open == 2u);
    BOOST_TEST(count.requests == 5u);
    BOOST_TEST(count.replies == 5u);
    BOOST_TEST(count.resets == 0u);
    BOOST_TEST(count.request_bytes > big.size());
    BOOST_TEST(count.reply_bytes > big.size());
}

BOOST_FIXTURE_TEST_CASE(proxy_forwards_the_end_of_a_connection, proxied)
{
    {
        resp_client client = connect();
        client.done({"PING"});
    }
    proxy.wait_until([](const auto& count) { return count.accepted == 1 && count.open == 0; });
    resp_client client = connect();
    client.send({"QUIT"});
    BOOST_TEST(client.receive().text == "OK");
    BOOST_TEST(client.wait_until_closed());
    server.kill();
    BOOST_CHECK_THROW(connect().command({"PING"}), resp_disconnected);
}

BOOST_FIXTURE_TEST_CASE(proxy_drops_replies, proxied)
{
    resp_client client = connect();
    client.done({"PING"});
    proxy.drop_replies();
    client.send({"SET", "k", "v"});
    proxy.wait_for_reply_to("SET");
    BOOST_TEST(has("k"));
    proxy.forward();
    BOOST_TEST(client.wait_until_closed());
    BOOST_TEST(connect().string({"GET", "k"}) == "v");
}

BOOST_FIXTURE_TEST_CASE(proxy_drops_requests, proxied)
{
    resp_client client = connect();
    client.done({"PING"});
    proxy.drop_requests();
    client.send({"SET", "k", "v"});
    proxy.wait_for_request("SET");
    proxy.forward();
    BOOST_TEST(client.wait_until_closed());
    BOOST_TEST(!has("k"));
}

BOOST_FIXTURE_TEST_CASE(proxy_drops_requests_and_replies, proxied)
{
    resp_client client = connect();
    client.send({"SET", "before", "v"});
    proxy.wait_for_reply_to("SET");
    proxy.drop();
    client.send({"SET", "k", "v"});
    proxy.wait_for_request("SET", 2);
    BOOST_TEST(proxy.count().open == 1u);
    proxy.forward();
    BOOST_TEST(client.wait_until_closed());
    BOOST_TEST(!has("k"));
}

BOOST_FIXTURE_TEST_CASE(stalled_data_arrives_later, proxied)
{
    resp_client client = connect();
    client.done({"PING"});
    proxy.stall();
    client.send({"SET", "k", "v"});
    proxy.wait_for_request("SET");
    BOOST_TEST(!has("k"));
    proxy.stall_replies();
    proxy.wait_for_reply_to("SET");
    BOOST_TEST(has("k"));
    BOOST_CHECK_THROW(connect(50ms).command({"PING"}), resp_disconnected);
    proxy.forward();
    BOOST_TEST(client.receive().text == "OK");
    proxy.stall_requests();
    client.send({"SET", "late", "v"});
    proxy.wait_for_request("late");
    BOOST_TEST(!has("late"));
    proxy.forward();
    BOOST_TEST(client.receive().text == "OK");
    BOOST_TEST(has("late"));
}

BOOST_FIXTURE_TEST_CASE(proxy_resets_and_refuses_connections, proxied)
{
    resp_client one = connect();
    resp_client two = connect();
    one.done({"PING"});
    two.done({"PING"});
    proxy.refuse();
    BOOST_TEST(!accepts(proxy.endpoint()));
    one.done({"PING"});
    proxy.reset_all();
    BOOST_TEST(proxy.count().open == 0u);
    BOOST_TEST(proxy.count().resets == 2u);
    BOOST_TEST(one.wait_until_closed());
    BOOST_TEST(two.wait_until_closed());
    BOOST_TEST(!accepts(proxy.endpoint()));
    proxy.accept();
    connect().done({"PING"});
}

BOOST_FIXTURE_TEST_CASE(proxy_cuts_a_request_at_every_byte, proxied)
{
    const std::string request = make_request({"SET", "cut", "v"});
    for (std::size_t size = 0; size <= request.size(); ++size) {
        direct.done({"DEL", "cut"});
        resp_client client = connect();
        client.done({"PING"});
        proxy.cut_after_request_bytes(size, "cut");
        client.done({"PING"}); // not this request
        client.send_bytes(request);
        BOOST_TEST(client.wait_until_closed());
        // The server reads the data before the end, and then sees the end.
        const auto limit = std::chrono::steady_clock::now() + 10s;
        while (direct.info("clients").at("connected_clients") != "1" &&
               std::chrono::steady_clock::now() < limit)
            std::this_thread::yield();
        BOOST_TEST(has("cut") == (size == request.size()));
    }
}

BOOST_FIXTURE_TEST_CASE(proxy_cuts_a_reply_at_every_byte, proxied)
{
    direct.done({"SET", "k", "value"});
    const std::string reply = "$5\r\nvalue\r\n";
    for (std::size_t size = 0; size <= reply.size(); ++size) {
        resp_client client = connect();
        client.done({"PING"});
        proxy.cut_after_reply_bytes(size, "GET");
        client.done({"PING"}); // not this request
        client.send({"GET", "k"});
        if (size == reply.size())
            BOOST_TEST(client.receive().text == "value");
        BOOST_TEST(client.wait_until_closed());
    }
    BOOST_TEST(proxy.count().resets == reply.size() + 1);
}

BOOST_FIXTURE_TEST_CASE(cut_without_a_text_counts_from_the_next_byte, proxied)
{
    resp_client client = connect();
    client.done({"PING"});
    proxy.cut_after_request_bytes(3);
    client.send({"SET", "k", "v"});
    BOOST_TEST(client.wait_until_closed());
    BOOST_TEST(!has("k"));
    resp_client other = connect();
    proxy.cut_after_reply_bytes(2);
    other.send({"SET", "k", "v"});
    BOOST_TEST(other.wait_until_closed());
    BOOST_TEST(has("k"));
}

BOOST_FIXTURE_TEST_CASE(proxy_replaces_one_reply_by_a_reset, proxied)
{
    resp_client client = connect();
    proxy.forward_then_reset("doomed");
    client.send_bytes(make_request({"SET", "a", "1"}) + make_request({"SET", "doomed", "1"}) +
                      make_request({"SET", "b", "1"}));
    BOOST_TEST(client.receive().text == "OK");
    BOOST_TEST(client.wait_until_closed());
    BOOST_TEST(has("a"));
    BOOST_TEST(has("doomed"));
    connect().done({"SET", "doomed", "2"}); // once

    proxy.reset_before("stopped");
    resp_client other = connect();
    other.send_bytes(make_request({"SET", "c", "1"}) + make_request({"SET", "stopped", "1"}));
    BOOST_TEST(other.wait_until_closed());
    proxy.wait_for_request("stopped");
    BOOST_TEST(!has("stopped"));
}

// In version 3, messages may come between a request and its reply, and SUBSCRIBE has no reply.
BOOST_FIXTURE_TEST_CASE(pushes_do_not_count_as_replies, proxied)
{
    resp_client client = connect();
    client.done({"HELLO", "3"});
    client.send({"SUBSCRIBE", "c"});
    BOOST_TEST((client.receive().type == resp_value::kind::push));
    proxy.forward_then_reset("doomed");
    direct.done({"PUBLISH", "c", "one"});
    client.send_bytes(make_request({"GET", "a"}) + make_request({"PUBLISH", "c", "two"}) +
                      make_request({"SET", "doomed", "1"}));
    BOOST_TEST(client.receive().items.at(2).text == "one");
    BOOST_TEST(client.receive().is_nil());
    const resp_value first = client.receive();
    const resp_value second = client.receive();
    BOOST_TEST((describe(first) + describe(second)).find("two") != std::string::npos);
    BOOST_TEST(client.wait_until_closed());
    BOOST_TEST(has("doomed"));
}

BOOST_FIXTURE_TEST_CASE(proxy_delays_all_data, proxied)
{
    resp_client client = connect();
    client.done({"PING"});
    proxy.delay(30ms);
    const auto before = std::chrono::steady_clock::now();
    client.done({"SET", "k", "v"});
    BOOST_TEST((std::chrono::steady_clock::now() - before >= 60ms));
    proxy.delay(0ms);
    client.done({"PING"});
}

BOOST_FIXTURE_TEST_CASE(proxy_translates_each_port_once, proxied)
{
    proxy.translate({{7000, 41000}, {41000, 80}});
    auto client = connect();
    direct.done({"RPUSH", "ports", "7000", "41000", "17000", "70001", "x7000"});
    const std::vector<std::string> expected = {"41000", "80", "17000", "70001", "x7000"};
    BOOST_TEST(client.strings({"LRANGE", "ports", "0", "-1"}) == expected,
               boost::test_tools::per_element());
    BOOST_TEST(direct.strings({"LRANGE", "ports", "0", "0"}).front() == "7000");
}

BOOST_FIXTURE_TEST_CASE(other_protocols_are_forwarded_as_bytes, proxied)
{
    resp_client client = connect();
    client.send_bytes("SET inline v\r\n");
    BOOST_TEST(client.receive().text == "OK");
    BOOST_TEST(has("inline"));
}

BOOST_FIXTURE_TEST_CASE(wait_for_a_request_times_out, proxied)
{
    resp_client client = connect();
    proxy.stall();
    client.send({"SET", "k", "v"});
    BOOST_CHECK_THROW(proxy.wait_for_request("never", 1, 20ms), std::runtime_error);
    proxy.wait_for_request("SET");
    proxy.forget();
    BOOST_CHECK_THROW(proxy.wait_for_request("SET", 1, 1ms), std::runtime_error);
}

// A server that is started while the proxy has connections must not keep them open.
BOOST_FIXTURE_TEST_CASE(children_do_not_inherit_connections, proxied)
{
    resp_client client = connect();
    client.done({"PING"});
    redis_server other;
    proxy.reset_all();
    BOOST_TEST(client.wait_until_closed());
    proxy.refuse();
    BOOST_TEST(!accepts(proxy.endpoint()));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(server_clock_shim)

BOOST_AUTO_TEST_CASE(shifted_clock_moves_and_freezes_the_server)
{
    if (!shifted_clock::available()) {
        BOOST_TEST_MESSAGE("no clock shim on this system");
        BOOST_CHECK_THROW(shifted_clock(), std::logic_error);
        return;
    }
    shifted_clock clock;
    redis_server server({}, {.environment = clock.environment()});
    redis_server other;
    resp_client client = server.connect();
    const auto micros = [](resp_client& from) {
        const auto parts = from.strings({"TIME"});
        return std::chrono::seconds(std::stoll(parts.at(0))) +
               std::chrono::microseconds(std::stoll(parts.at(1)));
    };
    resp_client reference = other.connect();
    const auto is_ahead_by = [&](std::chrono::microseconds offset) {
        const auto before = micros(reference);
        const auto now = micros(client);
        return before + offset <= now && now <= micros(reference) + offset;
    };
    BOOST_TEST(is_ahead_by(0s));
    clock.set(24h);
    BOOST_TEST(is_ahead_by(24h));
    clock.advance(-48h);
    BOOST_TEST(is_ahead_by(-24h));

    client.done({"SET", "k", "v", "PX", "3600000"});
    clock.advance(30min);
    const auto left = client.integer({"PTTL", "k"});
    BOOST_TEST((left <= 1'800'000 && left > 1'700'000));
    clock.freeze();
    const auto stood = client.integer({"PTTL", "k"});
    const auto time = micros(client);
    resp_client(server.endpoint()).done({"PING"});
    BOOST_TEST(client.integer({"PTTL", "k"}) == stood);
    BOOST_TEST((micros(client) == time));
    clock.advance(29min);
    BOOST_TEST(client.integer({"EXISTS", "k"}) == 1);
    clock.thaw();
    BOOST_TEST((micros(client) >= time + 29min));
    clock.advance(61s);
    BOOST_TEST(client.integer({"EXISTS", "k"}) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(helper_process)

BOOST_AUTO_TEST_CASE(helper_process_communicates_in_lines)
{
    process echo(
        {"sh", "-c", "while read line; do echo \"$PREFIX$line\"; done; printf end; exit 7"},
        {{"PREFIX", "> "}});
    echo.write_line("one");
    echo.write_line("two");
    BOOST_TEST(echo.read_line().value() == "> one");
    echo.expect("> two");
    BOOST_TEST(!echo.has_line());
    BOOST_CHECK_THROW(echo.read_line(20ms), std::runtime_error);
    BOOST_TEST(echo.running());
    echo.close_input();
    BOOST_TEST(echo.read_line().value() == "end");
    BOOST_TEST(!echo.read_line().has_value());
    BOOST_TEST(echo.wait().code == 7);
    BOOST_TEST(!echo.running());
}

BOOST_AUTO_TEST_CASE(helper_process_can_be_paused_and_killed)
{
    process echo({"cat"});
    echo.write_line("a");
    echo.expect("a");
    echo.pause();
    echo.write_line("b");
    BOOST_TEST(!echo.has_line());
    BOOST_TEST(echo.running());
    echo.resume();
    echo.expect("b");
    echo.kill();
    BOOST_TEST(echo.wait().signal == SIGKILL);
    BOOST_CHECK_THROW(echo.write_line("c"), std::runtime_error);
    BOOST_CHECK_THROW(echo.expect("c"), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(missing_program_ends_with_code_127)
{
    process none({"/nonexistent/program"});
    BOOST_TEST(none.wait().code == 127);
    process lasting({"sleep", "1000"});
    BOOST_CHECK_THROW(lasting.wait(1ms), std::runtime_error);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(sentinels)

BOOST_AUTO_TEST_CASE(sentinels_promote_a_replica_when_the_master_dies)
{
    sentinel_deployment deployment;
    BOOST_TEST(deployment.url().starts_with("redis+sentinel://127.0.0.1:"));
    BOOST_TEST(deployment.url().ends_with("/leasehold"));
    resp_client client = deployment.master().connect();
    client.done({"SET", "k", "v"});
    BOOST_TEST(client.integer({"WAIT", "2", "10000"}) == 2);
    const auto old = deployment.master_index();
    deployment.kill_sentinel(2);
    deployment.kill_master();
    deployment.wait_for_new_master();
    BOOST_TEST(deployment.master_index() != old);
    BOOST_TEST(deployment.master().connect().string({"GET", "k"}) == "v");
    deployment.master().connect().done({"SET", "k", "w"});
}

BOOST_AUTO_TEST_CASE(isolated_master_loses_its_writes)
{
    sentinel_deployment deployment;
    redis_server& old = deployment.master();
    resp_client client = old.connect();
    client.done({"SET", "k", "before"});
    BOOST_TEST(client.integer({"WAIT", "2", "10000"}) == 2);
    deployment.isolate_master();
    client.done({"SET", "k", "after"});
    deployment.wait_for_new_master();
    BOOST_TEST(client.string({"GET", "k"}) == "after");
    BOOST_TEST(deployment.master().connect().string({"GET", "k"}) == "before");
    BOOST_TEST((&deployment.master() != &old));
}

BOOST_AUTO_TEST_CASE(planned_switch_leaves_a_read_only_replica)
{
    sentinel_deployment deployment;
    redis_server& old = deployment.master();
    resp_client client = old.connect();
    client.done({"PING"});
    deployment.switch_master();
    BOOST_TEST((&deployment.master() != &old));
    // The old master is demoted a little after the new one is named, and then closes its
    // connections.
    BOOST_TEST(client.wait_until_closed());
    BOOST_TEST(old.connect().command({"SET", "k", "v"}).text.starts_with("READONLY"));
    deployment.master().connect().done({"SET", "k", "v"});
}

BOOST_AUTO_TEST_SUITE_END()
