// How connections are made: the order of the addresses, and the reported cause when no connection
// succeeds.
#include <boost/test/unit_test.hpp>

#include "redis/connection/connect_race.hpp"
#include "redis/connection/dialer.hpp"
#include "support/client_thread.hpp"
#include "support/forging_proxy.hpp"
#include "support/port.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"
#include "support/sentinel_deployment.hpp"
#include "support/tls_server.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/redis/error.hpp>

#include <dlfcn.h>
#include <netdb.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

// Replaces the function of the C library: the host `many` has two addresses.
extern "C" int getaddrinfo(const char* host, const char* port, const addrinfo* hints,
                           addrinfo** found)
{
    static const auto system = reinterpret_cast<decltype(&getaddrinfo)>(
        ::dlsym(RTLD_NEXT, "getaddrinfo"));
    if (host == nullptr || std::string_view(host) != "many")
        return system(host, port, hints, found);
    addrinfo* second = nullptr;
    if (const int failed = system("127.0.0.3", port, hints, &second))
        return failed;
    if (const int failed = system("127.0.0.2", port, hints, found)) {
        ::freeaddrinfo(second);
        return failed;
    }
    addrinfo* last = *found;
    while (last->ai_next != nullptr)
        last = last->ai_next;
    last->ai_next = second;
    return 0;
}

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using redis_store::dialer;
using tcp = asio::ip::tcp;
using clock_type = std::chrono::steady_clock;
using seen = recording_observer::kind;

tcp::endpoint address(const char* text, std::uint16_t port = 6379)
{
    return {asio::ip::make_address(text), port};
}

const std::vector<tcp::endpoint> three{address("127.0.0.1"), address("127.0.0.2"),
                                       address("127.0.0.3")};

std::vector<tcp::endpoint> order(const dialer& of)
{
    return of.in_order(tcp::resolver::results_type::create(three.begin(), three.end(), "many", ""));
}

/// Records a connection to that address, with or without an answer.
void reached(dialer& of, const tcp::endpoint& at, bool answered)
{
    of.begin();
    of.accepted(at, three.size());
    if (answered)
        of.answered();
}

/// The result of a race.
struct race_result
{
    error_code failed;
    tcp::endpoint reached;
    clock_type::duration took{};
};

using race_socket = asio::basic_stream_socket<tcp, asio::any_io_executor>;

race_result race(std::vector<tcp::endpoint> addresses, clock_type::duration limit)
{
    asio::io_context context;
    std::optional<race_result> result;
    const auto began = clock_type::now();
    redis_store::async_connect_race(
        asio::any_io_executor(asio::make_strand(context)), std::move(addresses), limit,
        [&](error_code failed, race_socket winner) {
            result = {failed, failed ? tcp::endpoint() : winner.remote_endpoint(),
                      clock_type::now() - began};
        });
    run_until(context, [&] { return result.has_value(); });
    return *result;
}

/// An address where connections are neither accepted nor refused: the queue of the listener is
/// full.
class deaf_address
{
public:
    explicit deaf_address(asio::io_context& context)
        : acceptor_(context), first_(context), second_(context)
    {
        acceptor_.open(tcp::v4());
        acceptor_.bind({asio::ip::address_v4::loopback(), 0});
        acceptor_.listen(0);
        first_.connect(endpoint());
        second_.async_connect(endpoint(), [](error_code) {});
    }

    tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }

private:
    tcp::acceptor acceptor_;
    tcp::socket first_;
    tcp::socket second_;
};

/// The reports of one failed lock to the observer and the caller.
struct told
{
    diagnostics caller;
    std::string observer;
};

told failure(const redis_config& settings)
{
    client_thread user(settings);
    user.seen().wait_for(seen::disconnected);
    BOOST_TEST(!user.lock("stock", {.wait_limit = 50ms}).held.valid());
    const auto failed = user.seen().events(seen::not_acquired);
    const auto errors = user.seen().events(seen::store_error);
    BOOST_TEST_REQUIRE(!failed.empty());
    BOOST_TEST_REQUIRE(!errors.empty());
    return {failed.front().details, errors.back().name};
}

bool has(const std::string& text, std::string_view part)
{
    return text.find(part) != std::string::npos;
}

void check_cause(const std::string& url, std::string_view cause)
{
    BOOST_TEST_CONTEXT(url)
    {
        const told of = failure(at(url));
        BOOST_TEST(has(of.caller.connection_error, cause), of.caller.to_string());
        BOOST_TEST(has(of.observer, cause), of.observer);
        BOOST_TEST(of.caller.server_message == "");
    }
}

std::string closed_port()
{
    static const reserved_port none;
    return "127.0.0.1:" + std::to_string(none.number());
}

} // namespace

// Addresses

BOOST_AUTO_TEST_CASE(first_attempt_follows_the_order_of_the_resolver)
{
    BOOST_TEST((order(dialer(redis_config())) == three));
}

BOOST_AUTO_TEST_CASE(address_that_answered_last_is_tried_first)
{
    const redis_config settings;
    dialer dials(settings);
    reached(dials, three[2], true);
    reached(dials, three[1], true);
    BOOST_TEST((order(dials) == std::vector{three[1], three[2], three[0]}));
}

BOOST_AUTO_TEST_CASE(address_that_accepts_without_an_answer_is_tried_last)
{
    const redis_config settings;
    dialer dials(settings);
    reached(dials, three[0], true);
    reached(dials, three[0], false);
    dials.begin();
    BOOST_TEST((order(dials) == std::vector{three[1], three[2], three[0]}));
    reached(dials, three[0], true);
    dials.begin();
    BOOST_TEST((order(dials) == three));
}

BOOST_AUTO_TEST_CASE(address_that_a_sentinel_names_goes_through_the_address_map)
{
    using address = boost::redis::address;
    redis_config settings("redis+sentinel://given:26379/m");
    settings.address_map = {{{"10.0.0.1", 0}, {"gate", 9000}},
                            {{"10.0.0.2", 6379}, {"gate", 9001}},
                            {{"given", 0}, {"gate", 9002}}};
    dialer dials(settings);
    const auto way = [&](const address& named) {
        const address& at = dials.begin(named);
        BOOST_TEST(dials.host() == at.host);
        return at.host + ':' + at.port;
    };
    BOOST_TEST(way({"10.0.0.1", "6379"}) == "gate:9000");
    BOOST_TEST(way({"10.0.0.2", "6379"}) == "gate:9001");
    BOOST_TEST(way({"10.0.0.2", "6380"}) == "10.0.0.2:6380");
    // The program has named it itself.
    BOOST_TEST(way({"given", "26379"}) == "given:26379");
    BOOST_TEST(way({"given", "6379"}) == "gate:9002");
}

BOOST_AUTO_TEST_CASE(each_of_several_addresses_gets_a_share_of_the_timeout)
{
    const redis_config settings;
    dialer dials(settings);
    dials.begin();
    dials.accepted(three[0], 4);
    BOOST_TEST((dials.share(2s) == std::optional<dialer::duration>(500ms)));
    dials.accepted(three[0], 1);
    BOOST_TEST(!dials.share(2s).has_value());
}

BOOST_AUTO_TEST_CASE(refused_address_gives_way_to_the_next_at_once)
{
    asio::io_context context;
    tcp::acceptor open(context, {asio::ip::address_v4::loopback(), 0});
    const reserved_port none;
    const auto result = race({address("127.0.0.1", none.number()), open.local_endpoint()}, 20s);
    BOOST_TEST(!result.failed);
    BOOST_TEST((result.reached == open.local_endpoint()));
    BOOST_TEST((result.took < 10s));
}

BOOST_AUTO_TEST_CASE(unresponsive_address_does_not_delay_the_next)
{
    asio::io_context context;
    const deaf_address deaf(context);
    tcp::acceptor open(context, {asio::ip::address_v4::loopback(), 0});
    const auto result = race({deaf.endpoint(), deaf.endpoint(), open.local_endpoint()}, 20s);
    BOOST_TEST(!result.failed);
    BOOST_TEST((result.reached == open.local_endpoint()));
    BOOST_TEST((result.took < 10s));
}

BOOST_AUTO_TEST_CASE(race_of_refused_addresses_fails_with_the_last_error)
{
    const reserved_port none;
    const auto at = address("127.0.0.1", none.number());
    BOOST_TEST((race({at, at, at}, 20s).failed == asio::error::connection_refused));
}

BOOST_AUTO_TEST_CASE(race_ends_at_its_limit)
{
    asio::io_context context;
    const deaf_address deaf(context);
    BOOST_TEST((race({deaf.endpoint()}, 50ms).failed == asio::error::operation_aborted));
}

BOOST_AUTO_TEST_CASE(race_ends_when_it_is_cancelled)
{
    asio::io_context context;
    const deaf_address deaf(context);
    asio::cancellation_signal cancel;
    std::optional<error_code> ended;
    redis_store::async_connect_race(
        asio::any_io_executor(asio::make_strand(context)), {deaf.endpoint(), deaf.endpoint()}, 60s,
        asio::bind_cancellation_slot(cancel.slot(),
                                     [&](error_code failed, race_socket) { ended = failed; }));
    context.poll();
    cancel.emit(asio::cancellation_type::terminal);
    run_until(context, [&] { return ended.has_value(); });
    BOOST_TEST((*ended == asio::error::operation_aborted));
}

BOOST_AUTO_TEST_CASE(silent_address_gives_way_to_the_next)
{
    const reserved_port port;
    asio::io_context context;
    const tcp::acceptor silent(context, address("127.0.0.2", port.number()));
    const redis_server server({"--bind", "127.0.0.3", "--port", std::to_string(port.number())});
    client_thread user(at("redis://many:" + std::to_string(port.number()) + "?timeout=400"));
    BOOST_TEST(user.lock("stock", {.wait_limit = 20s}).held.valid());
}

// Causes

BOOST_AUTO_TEST_CASE(caller_and_observer_get_the_cause_of_a_failed_connection)
{
    check_cause("redis://no-such-host.invalid", "the address of 'no-such-host.invalid' cannot");
    check_cause("redis://" + closed_port(), "Connection refused");
    check_cause("unix:///no/such/socket", "No such file");
}

BOOST_AUTO_TEST_CASE(caller_and_observer_get_the_cause_of_a_tls_failure)
{
    const tls_server there("DNS:elsewhere.example");
    const redis_server plain({}, {.tcp = true});
    check_cause(there.url("localhost", "ca=" + there.own.text), "certificate is for another host");
    check_cause(there.url("localhost", ""), "certificate is not trusted: self-signed certificate");
    check_cause("redis://127.0.0.1:" + std::to_string(there.port.number()), "it may expect TLS");
    check_cause("rediss://127.0.0.1:" + std::to_string(plain.port()) + "?verify=none&timeout=300",
                "the server does not answer in TLS");
}

BOOST_AUTO_TEST_CASE(proxy_without_resp3_is_rejected_with_this_reason)
{
    const redis_server server({"--requirepass", "secret"});
    const std::string_view replies[] = {
        "ERR unknown command 'HELLO'",
        "ERR unknown command `HELLO`, with args beginning with: `3`, `AUTH`, `default`, `secret`, ",
        "ERR unknown command",
        "ERR unsupported command 'hello'",
        "unsupported command 'hello'",
        "NOPROTO unsupported protocol version",
        "ERR wrong number of arguments for 'hello' command"};
    for (const std::string_view reply : replies) {
        BOOST_TEST_CONTEXT(reply)
        {
            forging_proxy proxy(server);
            proxy.forge("HELLO", std::vector<forging_proxy::pieces>(
                                     100'000, {'-' + std::string(reply) + "\r\n"}));
            redis_config settings = at(proxy.url());
            settings.password = "secret";
            client_thread user(settings);
            const taken refused = user.lock("stock", {.wait_limit = 20s});
            BOOST_TEST((refused.code == errc::not_supported), refused.code.message());
            const auto told = user.seen().events(seen::not_acquired).back().details;
            BOOST_TEST(told.server_message ==
                       std::string(reply.substr(0, reply.find(", with"))) +
                           " (HELLO is rejected: the server, or a proxy before it, does not "
                           "support RESP3)");
            for (const auto& each : user.seen().events(seen::store_error))
                BOOST_TEST(!has(each.name, "secret"), each.name);
        }
    }
}

// It may reach its server again.
BOOST_AUTO_TEST_CASE(proxy_without_a_server_is_tried_again)
{
    const redis_server server;
    forging_proxy proxy(server);
    proxy.forge("HELLO", std::vector<forging_proxy::pieces>(3, {"-ERR no upstream host\r\n"}));
    client_thread user(at(proxy.url()));
    BOOST_TEST(!user.lock("stock", {.wait_limit = 20s}).code);
    BOOST_TEST(proxy.left() == 0u);
}

BOOST_AUTO_TEST_CASE(proxy_that_closes_the_connection_is_a_possible_cause)
{
    using boost::asio::ip::tcp;
    reserved_port port;
    asio::io_context context;
    tcp::acceptor proxy(context, tcp::endpoint(tcp::v4(), port.number()));
    std::function<void()> accept = [&] {
        proxy.async_accept([&](error_code failed, const tcp::socket&) {
            if (!failed)
                accept();
        });
    };
    accept();
    std::jthread serves([&] { context.run(); });
    check_cause("redis://127.0.0.1:" + std::to_string(port.number()),
                "or be a proxy without RESP3");
    context.stop();
}

BOOST_AUTO_TEST_CASE(lost_server_is_reported_once_per_reason)
{
    redis_server server({}, {.tcp = true});
    client_thread user(at(server.tcp_url()));
    auto mine = user.lock("stock", {.lease_time = 1s});
    BOOST_TEST_REQUIRE(mine.held.valid());
    user.seen().clear();
    server.kill();
    user.seen().wait_for(seen::lost);
    const auto errors = user.seen().events(seen::store_error);
    BOOST_TEST_REQUIRE(!errors.empty());
    BOOST_TEST(has(errors.back().name, "Connection refused"), errors.back().name);
    // Closed or reset, then refused, and not one report for each attempt.
    BOOST_TEST(errors.size() <= 3u);
    const auto lost = user.seen().events(seen::lost);
    BOOST_TEST(has(lost.front().details.connection_error, "Connection refused"),
               lost.front().details.to_string());
}

BOOST_AUTO_TEST_CASE(unreachable_nodes_of_a_cluster_are_named)
{
    const std::string node = closed_port();
    check_cause("redis+cluster://" + node + ",no-such-host.invalid:7000",
                node + ": Connection refused; no-such-host.invalid:7000: the address of");
}

BOOST_AUTO_TEST_CASE(unreachable_sentinels_are_named)
{
    const std::string sentinel = closed_port();
    check_cause("redis+sentinel://" + sentinel + "/orders",
                "no Sentinel names the master 'orders': Sentinel at " + sentinel);
}

BOOST_AUTO_TEST_CASE(unreachable_master_of_a_sentinel_is_named)
{
    sentinel_deployment deployment;
    const std::string master = "127.0.0.1:" + std::to_string(deployment.master().port());
    client_thread user(at(deployment.url()));
    user.seen().wait_for(seen::connected);
    deployment.kill_sentinel(0); // so that no other master is elected
    deployment.kill_sentinel(1);
    deployment.kill_master();
    wait_until([&] {
        const auto errors = user.seen().events(seen::store_error);
        return std::any_of(errors.begin(), errors.end(), [&](const auto& each) {
            return has(each.name, "(" + master + ": Connection refused)");
        });
    });
}

BOOST_AUTO_TEST_CASE(unreachable_members_of_a_quorum_are_named_with_the_cause)
{
    const std::string member = closed_port();
    const told of = failure(
        at("redlock://" + member + ",127.0.0.2:1,no-such-host.invalid:7000?timeout=100"));
    for (const char* const each : {"Connection refused", "the address of 'no-such-host.invalid'"})
        BOOST_TEST(has(of.caller.to_string(), each), of.caller.to_string());
}
