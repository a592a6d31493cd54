// The store in ZooKeeper without a server: its configuration, the names of nodes, messages, and the
// order of a queue.
#include <boost/test/unit_test.hpp>

#include "fsm/lease/session_lease.hpp"
#include "zookeeper/protocol/errors.hpp"
#include "zookeeper/protocol/jute.hpp"
#include "zookeeper/protocol/messages.hpp"
#include "zookeeper/protocol/node_names.hpp"
#include "zookeeper/store/contender.hpp"
#include "zookeeper/store/queue_view.hpp"

#include <leasehold/error.hpp>
#include <leasehold/zookeeper.hpp>

#include <boost/system/system_error.hpp>

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::zookeeper_store;
using namespace std::chrono_literals;

std::string refusal_of(std::string_view url)
{
    try {
        static_cast<void>(zookeeper_config(url));
    }
    catch (const boost::system::system_error& failed) {
        BOOST_TEST((failed.code() == errc::invalid_url), url);
        return failed.what();
    }
    return {};
}

bool contains(const std::string& text, std::string_view part)
{
    return text.find(part) != std::string::npos;
}

} // namespace

BOOST_AUTO_TEST_CASE(url_sets_each_field)
{
    const zookeeper_config c(
        "zookeeper://orders:a%3Ab@zk1:2182,zk2,[::1]:2183/app/locks?session=8000&tick=1000&"
        "timeout=500&reconnect=20&tls=on&ca=ca.pem&cert=c.pem&key=k.pem&verify=none&"
        "client_info=off");
    const std::vector<zookeeper_config::address> expected{
        {"zk1", 2182}, {"zk2", 2181}, {"::1", 2183}};
    BOOST_TEST((c.addresses == expected));
    BOOST_TEST(c.root == "/app/locks");
    BOOST_TEST(c.user == "orders");
    BOOST_TEST(c.password == "a:b");
    BOOST_TEST((c.session == 8s && c.tick == 1s && c.timeout == 500ms && c.reconnect == 20ms));
    BOOST_TEST((c.tls && !c.tls_verify && !c.client_info));
    BOOST_TEST((c.tls_ca_file == "ca.pem" && c.tls_cert_file == "c.pem"));
    BOOST_TEST(c.tls_key_file == "k.pem");
    BOOST_TEST(zookeeper_config("zookeeper://h/").root.empty());
}

BOOST_AUTO_TEST_CASE(wrong_url_is_rejected_with_its_wrong_part)
{
    const struct
    {
        const char* url;
        const char* part;
    } all[] = {{"h:2181", "no scheme"},
               {"redis://h", "scheme is 'redis'"},
               {"zookeeper:h", "no '//'"},
               {"zookeeper:///locks", "host is ''"},
               {"zookeeper://h:0", "port is '0'"},
               {"zookeeper://h/a/", "root is '/a/'"},
               {"zookeeper://h/a//b", "root is '/a//b'"},
               {"zookeeper://h/..", "root is '/..'"},
               {"zookeeper://h/%C3%A4", "root is"},
               {"zookeeper://h?session=1000", "must be 8000 to 600000 ms"},
               {"zookeeper://h?tick=1", "tick is '1 ms'"},
               {"zookeeper://h?tls=yes", "tls is 'yes'"},
               {"zookeeper://h?ca=x", "tls is off"},
               {"zookeeper://h?verify=no", "verify is 'no'"},
               {"zookeeper://:secret@h", "user is empty"},
               {"zookeeper://u:secret@h?password_file=f", "password_file is 'f'"},
               {"zookeeper://h?timeout=0", "timeout is '0 ms'"},
               {"zookeeper://h?db=1", "parameter is 'db'"}};
    for (const auto& each : all) {
        const std::string text = refusal_of(each.url);
        BOOST_TEST(contains(text, each.part), each.url << ": " << text);
        BOOST_TEST(!contains(text, "secret"));
    }
}

BOOST_AUTO_TEST_CASE(scheme_makes_a_store)
{
    BOOST_TEST(make_store("zookeeper://127.0.0.1")->traits().session);
}

BOOST_AUTO_TEST_CASE(each_name_has_a_node_of_its_own)
{
    using namespace std::string_literals;
    const std::string names[] = {"orders",    "a b",      "a%20b", "a/b",
                                 "a%2Fb",     ".",        "..",    "...",
                                 "zookeeper", "%clients", "",      "%empty",
                                 "nul\0nul"s, "\xff\xfe", "a\x7f", "_c_x-lock-0000000001"};
    std::set<std::string> nodes;
    for (const std::string& each : names) {
        const std::string node = lock_node("", each);
        BOOST_TEST(nodes.insert(node).second, node);
        BOOST_TEST((lock_of_node(node.substr(1)) == each), node);
        for (const char c : node)
            BOOST_TEST((c > ' ' && c < '\x7f'));
        BOOST_TEST(node.find('/', 1) == node.npos);
    }
    BOOST_TEST(lock_node("/app", "orders") == "/app/orders");
    BOOST_TEST(lock_node("/app", "zookeeper") == "/app/zookeeper");
    BOOST_TEST(!nodes.contains(clients_node("")));
    BOOST_TEST((lock_of_node("%clients") == std::nullopt));
}

BOOST_AUTO_TEST_CASE(child_names_its_owner)
{
    const std::string prefix = child_prefix("5e0f8c21-0000-4000-8000-000000000001:7", "");
    BOOST_TEST(prefix == "_c_5e0f8c21-0000-4000-8000-000000000001:7-lock-");
    BOOST_TEST(owner_of_child(prefix + "0000000004") == "5e0f8c21-0000-4000-8000-000000000001:7");
    BOOST_TEST(is_child_of(prefix + "0000000004", prefix));
    BOOST_TEST(!is_child_of(prefix + "1-lock-0000000004", prefix));
    BOOST_TEST(owner_of_child(child_prefix("a:1", "e~/x") + "0000000004") == "a:1");
    BOOST_TEST(child_prefix("a:1", "e") != child_prefix("a:1", "f"));
    BOOST_TEST(owner_of_child("0123456789abcdef__lock__0000000004").empty());
}

BOOST_AUTO_TEST_CASE(numbers_of_all_libraries_are_read)
{
    const struct
    {
        const char* child;
        std::optional<std::int32_t> number;
    } all[] = {{"_c_a-lock-0000000012", 12},          {"_c_5e0f-__READ__0000000003", 3},
               {"f00123456789__lock__0000000004", 4}, {"_c_a-lock-2147483647", INT32_MAX},
               {"_c_a-lock--2147483648", INT32_MIN},  {"_c_a-lock--000000001", -1},
               {"x__lock__-000000001", -1},           {"%clients", std::nullopt},
               {"sub-lock-12", std::nullopt},         {"", std::nullopt},
               {"9999999999", std::nullopt}};
    for (const auto& each : all)
        BOOST_TEST((number_of_child(each.child) == each.number), each.child);
}

BOOST_AUTO_TEST_CASE(queue_is_in_the_order_of_its_numbers)
{
    const queue_view queue({"_c_c:1-lock--2147483648", "_c_a:1-lock-2147483646", "data",
                            "_c_b:1-lock-2147483647", "_c_a:1~e-lock-2147483646"});
    BOOST_TEST(queue.children().size() == 4u);
    BOOST_TEST(queue.is_first(INT32_MAX - 1));
    BOOST_TEST(!queue.is_first(INT32_MAX));
    BOOST_TEST(queue.before(INT32_MIN).name == "_c_b:1-lock-2147483647");
    BOOST_TEST(queue.position(INT32_MAX) == 0u);
    BOOST_TEST(queue.position(INT32_MIN) == 1u);
    BOOST_TEST(queue.find("_c_a:1-lock-")->number == INT32_MAX - 1);
    BOOST_TEST(queue.find("_c_d:1-lock-") == nullptr);
}

BOOST_AUTO_TEST_CASE(fences_of_changes_do_not_overlap)
{
    contender of{.name = {}, .owner = {}, .folder = {}, .prefix = {}};
    of.created = 5;
    const fence_block first = take_fences(of, 5, 0);
    BOOST_TEST((first.first == 5u << 10 && first.size == 5u));
    const fence_block again = take_fences(of, 2'000, 0);
    BOOST_TEST((again.first == (5u << 10) + 5 && again.size == 1'019u));
    const fence_block last = take_fences(of, 1, 0);
    BOOST_TEST((last.first == (6u << 10) - 1 && last.size == 1u));
    BOOST_TEST(take_fences(of, 1, (6u << 10) - 1).size == 0u);
    of.used = 0;
    BOOST_TEST(take_fences(of, 1, (5u << 10) + 7).first == (5u << 10) + 8);
    of.created = std::uint64_t(1) << 53;
    BOOST_TEST(take_fences(of, 1, 0).size == 0u);
}

BOOST_AUTO_TEST_CASE(malformed_replies_are_rejected)
{
    const std::string good = jute_writer().number(std::int32_t(2)).text("a").text("bc").take();
    BOOST_TEST((read_children(good) == std::vector<std::string>{"a", "bc"}));
    for (std::size_t i = 0; i < good.size(); ++i)
        BOOST_TEST(!read_children(good.substr(0, i)));
    for (const std::int32_t size : {INT32_MAX, INT32_MIN, -2, 1'000'000})
        BOOST_TEST(!read_children(jute_writer().number(size).take()));
    BOOST_TEST(!read_data("x"));
    BOOST_TEST(!read_multi(""));
    BOOST_TEST(!read_multi(jute_writer().number(std::int32_t(99)).flag(false).number(0).take()));
    std::string_view header = "0123456789";
    BOOST_TEST(!take_header(header));
}

BOOST_AUTO_TEST_CASE(failed_part_of_a_transaction_is_reported)
{
    jute_writer to;
    for (const std::int32_t error : {0, no_node, -2})
        to.number(std::int32_t(-1)).flag(false).number(error).number(error);
    to.number(std::int32_t(-1)).flag(true).number(std::int32_t(-1));
    BOOST_TEST((read_multi(to.take()) == no_node));
}

BOOST_AUTO_TEST_CASE(server_errors_have_a_code_and_a_text)
{
    BOOST_TEST((classify(-102) == errc::permission_denied));
    BOOST_TEST((classify(-9999) == errc::store_refused));
    BOOST_TEST(contains(zookeeper_store::text_of(-102), "NoAuth"));
    BOOST_TEST(zookeeper_store::text_of(-9999) == "error (-9999)");
    BOOST_TEST((ends_connection(-112) && ends_connection(-118) && !ends_connection(-101)));
}

// The model visits all orders of messages; this is the arithmetic of one.
BOOST_AUTO_TEST_CASE(ping_counts_after_a_request_and_a_write)
{
    using lease = fsm::session_lease<int, int>;
    lease it(0, 100, 10);
    BOOST_TEST(it.until() == 100);
    it.pinged(20, 22);
    const auto early = it.sending(31);
    it.answered(early, true);
    BOOST_TEST(it.until() == 100);
    const auto proof = it.sending(32);
    it.answered(proof, true); // passed on, and not confirmed
    BOOST_TEST(it.until() == 100);
    const auto question = it.sending(33);
    it.answered(question, false);
    BOOST_TEST(it.until() == 100);
    const auto write = it.sending(34);
    BOOST_TEST(it.until() == 100);
    it.answered(write, true);
    BOOST_TEST(it.until() == 120);
    it.pinged(40, 41);
    it.reconnected(45);
    const auto next = it.sending(90);
    it.answered(next, true);
    BOOST_TEST(it.until() == 145);
}
