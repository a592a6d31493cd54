// The connections of the tool to servers.
#include "interruption.hpp"
#include "server/servers.hpp"

#include "support/cluster_deployment.hpp"
#include "support/directory.hpp"
#include "support/forging_proxy.hpp"
#include "support/redis_server.hpp"
#include "support/sentinel_deployment.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::tool {
namespace {

using kind = resp_value::kind;
using test::redis_server;

/// The reply is complete with its last byte only.
resp_value read_in_pieces(std::string_view bytes)
{
    resp_reader reader;
    for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
        reader.add(bytes.substr(i, 1));
        BOOST_TEST(!reader.next().has_value());
    }
    reader.add(bytes.substr(bytes.size() - 1));
    auto value = reader.next();
    BOOST_TEST_REQUIRE(value.has_value());
    return *value;
}

} // namespace

BOOST_AUTO_TEST_SUITE(tool_servers)

BOOST_AUTO_TEST_CASE(reply_of_every_type_is_read_in_pieces)
{
    BOOST_TEST(read_in_pieces("$-1\r\n").is_nothing());
    BOOST_TEST(read_in_pieces("_\r\n").is_nothing());
    BOOST_TEST(read_in_pieces(":-12\r\n").number == -12);
    BOOST_TEST(read_in_pieces("=8\r\ntxt:a: b\r\n").text == "a: b");
    BOOST_TEST(read_in_pieces("-MOVED 1 h:2\r\n").is_error("MOVED"));
    BOOST_TEST(read_in_pieces("!5\r\nERR x\r\n").is_error("ERR"));
    BOOST_TEST(read_in_pieces("|1\r\n+a\r\n+b\r\n#t\r\n").text == "true");
    const resp_value map = read_in_pieces("%2\r\n+a\r\n*2\r\n:1\r\n,2.5\r\n+b\r\n$1\r\n3\r\n");
    BOOST_TEST_REQUIRE(map.find("a") != nullptr);
    BOOST_TEST(map.find("a")->items.at(1).text == "2.5");
    BOOST_TEST(map.find("b")->to_number().value() == 3);
    BOOST_TEST(map.find("c") == nullptr);
    resp_reader reader;
    reader.add(">2\r\n+message\r\n+x\r\n+answer\r\n");
    BOOST_TEST(reader.next().value().text == "answer");
    for (const std::string_view odd : {"HTTP/1.1 400\r\n", "\r\n", ":x\r\n", "$1\r\nabc\r\n",
                                       "%9223372036854775807\r\n", "$9223372036854775807\r\n"}) {
        resp_reader other;
        other.add(odd);
        BOOST_CHECK_THROW(static_cast<void>(other.next()), resp_error);
    }
}

BOOST_AUTO_TEST_CASE(server_replies_over_tcp_and_over_a_local_socket)
{
    const redis_server server({"--requirepass", "a b"}, {.tcp = true});
    boost::asio::io_context context;
    for (const std::string& url :
         {"redis://:a%20b@127.0.0.1:" + std::to_string(server.port()) + "/3",
          "unix://:a%20b@" + server.socket() + "?db=3"}) {
        servers found(context, redis_config(url));
        BOOST_TEST(found.size() == 1u);
        BOOST_TEST(found.ask("key", {"SET", "key", "value"}).text == "OK");
        const auto answers = found.connection(0).ask_all({{"GET", "key"}, {"NONSENSE"}, {"INFO"}});
        BOOST_TEST(answers.at(0).text == "value");
        BOOST_TEST(answers.at(1).is_error("ERR"));
        BOOST_TEST(answers.at(2).text.find("db3:keys=1") != std::string::npos);
        BOOST_CHECK_THROW(static_cast<void>(found.connection(0).demand({"NONSENSE"})), refused);
    }
    BOOST_CHECK_THROW(
        static_cast<void>(servers(context, redis_config(server.unix_url())).connection(0)),
        refused);
}

BOOST_AUTO_TEST_CASE(password_is_read_from_its_file_for_each_connection)
{
    const test::temporary_directory directory;
    const std::string file = directory.file("password");
    redis_server server({"--requirepass", "secret"});
    boost::asio::io_context context;
    servers found(context, redis_config(server.unix_url() + "?password_file=" + file));
    BOOST_CHECK_EXCEPTION(static_cast<void>(found.connection(0)), unreachable,
                          [&](const unreachable& failed) {
                              return failed.what() == "password_file '" + file +
                                                          "' cannot be read: No such file or "
                                                          "directory";
                          });
    std::ofstream(file) << "secret\n";
    BOOST_TEST(found.ask("key", {"PING"}).text == "PONG");
}

BOOST_AUTO_TEST_CASE(server_without_resp3_is_reported_without_the_password)
{
    const redis_server server;
    test::forging_proxy proxy(server);
    proxy.forge("HELLO", {{"-ERR unknown command `HELLO`, with args beginning with: `3`, `AUTH`, "
                           "`default`, `secret`, \r\n"}});
    boost::asio::io_context context;
    redis_config where(proxy.url());
    where.password = "secret";
    servers found(context, where);
    BOOST_CHECK_EXCEPTION(
        static_cast<void>(found.connection(0)), refused, [&](const refused& failed) {
            return std::string_view(failed.what())
                .ends_with(" rejects HELLO: ERR unknown command `HELLO` (HELLO is rejected: the "
                           "server, or a proxy before it, does not support RESP3)");
        });
}

BOOST_AUTO_TEST_CASE(unreachable_server_is_named_and_reconnected_later)
{
    redis_server server;
    boost::asio::io_context context;
    servers found(context, redis_config(server.unix_url() + "?timeout=300"));
    const auto fails = [&](std::string_view words) {
        BOOST_CHECK_EXCEPTION(static_cast<void>(found.ask("key", {"PING"})), unreachable,
                              [&](const unreachable& failed) {
                                  const std::string_view text = failed.what();
                                  return text.starts_with(server.socket()) &&
                                         text.find(words) != text.npos;
                              });
    };
    BOOST_TEST(found.ask("key", {"PING"}).text == "PONG");
    server.pause();
    fails("does not answer within 300 ms");
    server.resume();
    server.kill();
    fails("cannot be reached");
    server.start();
    BOOST_TEST(found.ask("key", {"PING"}).text == "PONG");
    server.kill();
    fails("");
}

BOOST_AUTO_TEST_CASE(stopped_sentinels_hardly_delay_a_command)
{
    test::sentinel_deployment deployment;
    deployment.pause_sentinel(0);
    deployment.pause_sentinel(1);
    boost::asio::io_context context;
    const auto begin = std::chrono::steady_clock::now();
    servers found(context, redis_config(deployment.url() + "?timeout=10000"));
    BOOST_TEST(found.ask("key", {"PING"}).text == "PONG");
    BOOST_TEST((std::chrono::steady_clock::now() - begin < std::chrono::seconds(5)));

    // If none answers in that time, each gets the whole time.
    deployment.pause_sentinel(2);
    BOOST_CHECK_EXCEPTION(servers(context, redis_config(deployment.url() + "?timeout=600")),
                          unreachable, [](const unreachable& failed) {
                              return std::string_view(failed.what()).find("within 600 ms") !=
                                     std::string_view::npos;
                          });
    for (std::size_t i = 0; i < deployment.sentinel_count; ++i)
        deployment.resume_sentinel(i);
}

BOOST_AUTO_TEST_CASE(signal_ends_the_wait_for_a_reply)
{
    redis_server server;
    boost::asio::io_context context;
    servers found(context, redis_config(server.unix_url()));
    BOOST_TEST(found.ask("key", {"PING"}).text == "PONG");
    boost::asio::signal_set signals(context, SIGUSR1);
    signals.async_wait([&](const auto&...) { interrupt(context); });
    server.pause();
    ::raise(SIGUSR1);
    BOOST_CHECK_THROW(static_cast<void>(found.ask("key", {"PING"})), interrupted);
    server.resume();
}

BOOST_AUTO_TEST_CASE(cluster_keys_are_found_after_their_slots_have_moved)
{
    test::cluster_deployment cluster;
    boost::asio::io_context context;
    servers found(context, redis_config(cluster.url()));
    BOOST_TEST(found.size() == 3u);
    std::vector<servers::keyed_command> writes;
    for (int i = 0; i < 100; ++i) {
        const std::string key = "key" + std::to_string(i);
        writes.push_back({key, {"SET", key, key}});
    }
    for (const resp_value& answer : found.ask_all(writes))
        BOOST_TEST(answer.text == "OK");
    cluster.move("key7", cluster.master_besides(cluster.master_of("key7"), 0));
    const std::size_t target = cluster.master_besides(cluster.master_of("key8"), 1);
    cluster.begin_move("key8", target);
    cluster.move_keys("key8", target);
    for (const auto& each : writes)
        BOOST_TEST(found.ask(each.key, {"GET", each.key}).text == each.key);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace leasehold::tool
