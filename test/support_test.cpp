// The test support itself: every fault that it promises does happen.
#define BOOST_TEST_MODULE support
#include <boost/test/included/unit_test.hpp>

#include "support/redis_server.hpp"
#include "support/resp_client.hpp"

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

bool accepts(const stream_endpoint& where)
{
    try {
        resp_client probe(where, 2s);
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
    const std::string all = "*9\r\n+OK\r\n-ERR no\r\n:-7\r\n$3\r\na\r\n\r\n$-1\r\n*-1\r\n%1\r\n+k\r\n#t\r\n~1\r\n_\r\n=5\r\ntxt:x\r\n";
    const auto parsed = parse_resp(all + "+next\r\n");
    BOOST_TEST_REQUIRE(parsed.has_value());
    BOOST_TEST(parsed->second == all.size());
    BOOST_TEST(describe(parsed->first) == "[OK, error: ERR no, -7, \"a\r\n\", nil, nil, [k, true], [nil], \"x\"]");
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

BOOST_AUTO_TEST_CASE(replies_have_the_type_that_was_asked_for)
{
    redis_server server;
    resp_client client = server.connect();
    BOOST_TEST(client.string({"SET", "k", "7"}) == "OK");
    BOOST_TEST(client.string({"GET", "k"}) == "7");
    BOOST_TEST(client.integer({"GET", "k"}) == 7);
    BOOST_TEST(client.integer({"INCR", "k"}) == 8);
    BOOST_TEST(!client.maybe_string({"GET", "none"}).has_value());
    BOOST_TEST(client.strings({"MGET", "k", "k"}) == (std::vector<std::string>{"8", "8"}), boost::test_tools::per_element());
    BOOST_TEST(client.command({"LPUSH", "k", "x"}).is_error());
    BOOST_CHECK_THROW(client.done({"LPUSH", "k", "x"}), resp_unexpected);
    BOOST_CHECK_THROW(client.integer({"SET", "k", "x"}), resp_unexpected);
    BOOST_CHECK_THROW(client.string({"GET", "none"}), resp_unexpected);
    const std::string big(200'000, 'b');
    client.done({"SET", "big", big});
    BOOST_TEST((client.string({"GET", "big"}) == big));
}

BOOST_AUTO_TEST_CASE(the_server_counts_calls_and_subscribers)
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
    BOOST_TEST(client.channels() == std::vector<std::string>{"c"}, boost::test_tools::per_element());
    BOOST_TEST(client.subscribers("c") == 1);
    BOOST_TEST(client.integer({"PUBLISH", "c", "hello"}) == 1);
    BOOST_TEST(listener.receive().items.at(2).text == "hello");
}

BOOST_AUTO_TEST_CASE(a_server_that_does_not_answer_is_noticed)
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

BOOST_AUTO_TEST_CASE(listens_on_a_port_of_its_own_and_keeps_it)
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

BOOST_AUTO_TEST_CASE(data_survives_a_restart_when_asked_to)
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

BOOST_AUTO_TEST_CASE(a_server_that_cannot_start_says_why)
{
    BOOST_CHECK_THROW(redis_server({"--maxmemory-policy", "nonsense"}), std::runtime_error);
}

#if defined(__linux__)
// Killed without a chance to clean up, a test must leave no server behind.
BOOST_AUTO_TEST_CASE(a_server_dies_with_the_process_that_started_it)
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
    BOOST_TEST_REQUIRE(::read(ready[0], &started, sizeof started) == static_cast<ssize_t>(sizeof started));
    ::waitpid(middle, nullptr, 0);
    // Whoever adopts the orphan reaps it in its own time; dead is all that counts, so look at its state.
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
