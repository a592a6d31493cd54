// The protocol of a cluster, without one: slots, redirections, and topologies.
#include <boost/test/unit_test.hpp>

#include "redis/cluster/reply_tree.hpp"
#include "redis/cluster/request.hpp"
#include "redis/cluster/request_lanes.hpp"
#include "redis/cluster/topology.hpp"
#include "redis/commands/native_keys.hpp"
#include "redis/protocol/redirection.hpp"
#include "redis/protocol/slot.hpp"
#include "redis/resp_text.hpp"

#include <leasehold/error.hpp>

#include <boost/redis/resp3/parser.hpp>

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::redis_store;
using namespace leasehold::redis_store::cluster;
using namespace std::literals;
using test::bulk;

reply_tree read(std::string_view text)
{
    reply_tree result;
    boost::redis::resp3::parser parser;
    error_code failed;
    while (!parser.done()) {
        const auto node = parser.consume(text, failed);
        BOOST_TEST_REQUIRE(!failed);
        BOOST_TEST_REQUIRE(node.has_value());
        result.record(*node);
    }
    return result;
}

std::string number(std::int64_t value)
{
    return ':' + std::to_string(value) + "\r\n";
}

std::string list(const std::vector<std::string>& items, char kind = '*')
{
    std::string result = kind + std::to_string(kind == '%' ? items.size() / 2 : items.size()) +
                         "\r\n";
    for (const std::string& each : items)
        result += each;
    return result;
}

struct seen_node
{
    std::string role, ip;
    int port;
    std::string endpoint, health;
};

/// In the form of a server. In RESP2, maps are lists.
std::string node(const seen_node& n, char map)
{
    return list({bulk("id"), bulk("e10b"), bulk("port"), number(n.port), bulk("ip"), bulk(n.ip),
                 bulk("endpoint"), bulk(n.endpoint), bulk("role"), bulk(n.role),
                 bulk("replication-offset"), number(72), bulk("health"), bulk(n.health),
                 bulk("tls-port"), number(n.port + 1000)},
                map);
}

std::string shard(const std::vector<std::int64_t>& slots, const std::vector<seen_node>& nodes,
                  char map = '%')
{
    std::vector<std::string> ranges, all;
    for (const std::int64_t each : slots)
        ranges.push_back(number(each));
    for (const seen_node& each : nodes)
        all.push_back(node(each, map));
    return list({bulk("slots"), list(ranges), bulk("nodes"), list(all)}, map);
}

redis_config of_cluster()
{
    return redis_config("redis+cluster://seed:7000");
}

const redis_config::address asked{"seed", 7000};

std::string describe(const topology& t)
{
    const auto name = [](const redis_config::address& at) {
        return at.host + ':' + std::to_string(at.port);
    };
    std::string result;
    for (const topology::range& each : t.ranges)
        result += std::to_string(each.first) + '-' + std::to_string(each.last) + '=' +
                  name(t.masters.at(each.master)) + ' ';
    for (const redis_config::address& each : t.others)
        result += '+' + name(each) + ' ';
    return result;
}

} // namespace

BOOST_AUTO_TEST_SUITE(slots)

// The examples of the Redis Cluster specification, and some from a server.
BOOST_AUTO_TEST_CASE(slot_of_a_name_matches_the_server)
{
    BOOST_TEST(slot_of("123456789") == 12739);
    BOOST_TEST(slot_of("stock:2") == slot_of("{stock:2}.x"));
    BOOST_TEST(slot_of("") == 0);
    BOOST_TEST(slot_of("foo") == 12182);
    BOOST_TEST(slot_of("{user1000}.following") == slot_of("{user1000}.followers"));
    BOOST_TEST(slot_of("foo{}{bar}") != slot_of("bar"));
    BOOST_TEST(slot_of("foo{{bar}}zap") == slot_of("{bar"));
    BOOST_TEST(slot_of("foo{bar}{zap}") == slot_of("bar"));
    BOOST_TEST(slot_of("{") != slot_of(""));
}

BOOST_AUTO_TEST_CASE(each_slot_has_a_short_tag)
{
    std::set<std::string> seen;
    for (std::size_t slot = 0; slot < slot_count; ++slot) {
        std::string tag;
        append_short_tag(static_cast<slot_number>(slot), tag);
        BOOST_REQUIRE(slot_of("{" + tag + "}") == slot);
        BOOST_REQUIRE(tag.size() <= 6);
        BOOST_REQUIRE(seen.insert(tag).second);
    }
    // All clients of all versions must agree on the tag.
    std::string first;
    append_short_tag(slot_of("7"), first);
    BOOST_TEST(first == "7");
}

// All keys and channels of a name are in the slot of the name.
BOOST_AUTO_TEST_CASE(all_keys_of_a_name_share_its_slot)
{
    for (const std::string& name :
         {"stock"s, "a{b}c"s, "a{"s, "a}b"s, "{}x"s, "{"s, "}"s, "{}"s, "{a}{b}"s, "a{}{b}"s,
          "nul\0nul"s, "}{"s, "{{a}}"s, std::string(4096, 'n')}) {
        const slot_number slot = slot_of(name);
        std::string key;
        const auto is_there = [&](const std::string& made) { return slot_of(made) == slot; };
        native_keys().queue(name, key);
        BOOST_TEST(is_there(key), name);
        native_keys().waiters(name, key);
        BOOST_TEST(is_there(key), name);
        native_keys().entries(name, key);
        BOOST_TEST(is_there(key), name);
        native_keys().fence_in(slot, key);
        BOOST_TEST(is_there(key), name);
        native_keys().grants_in(slot, "5e0f8c21-3a1c", key);
        BOOST_TEST(is_there(key), name);
    }
}

BOOST_AUTO_TEST_CASE(different_names_have_different_keys)
{
    std::set<std::string> seen;
    for (const char* name : {"a", "{a}", "{a}b", "b{a}", "{}a", "{}", "{", "7", "{7}"}) {
        std::string key;
        native_keys().queue(name, key);
        BOOST_TEST(seen.insert(key).second, name);
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(redirections)

BOOST_AUTO_TEST_CASE(redirection_names_kind_slot_and_address)
{
    using kind = redirection::kind;
    const redirection moved = read_redirection("MOVED 3999 127.0.0.1:6381");
    BOOST_TEST((moved.what == kind::moved && moved.slot == 3999));
    BOOST_TEST((moved.where == redis_config::address{"127.0.0.1", 6381}));
    const redirection ask = read_redirection("ASK 0 host.example:1");
    BOOST_TEST((ask.what == kind::ask && ask.where == redis_config::address{"host.example", 1}));
    BOOST_TEST((read_redirection("MOVED 16383 2001:db8::1:6379").where ==
                redis_config::address{"2001:db8::1", 6379}));
    BOOST_TEST((read_redirection("TRYAGAIN Multiple keys request during rehashing of slot").what ==
                kind::try_again));
    BOOST_TEST((read_redirection("CLUSTERDOWN The cluster is down").what == kind::down));
    BOOST_TEST((read_redirection("CLUSTERDOWN").what == kind::down));
}

BOOST_AUTO_TEST_CASE(redirection_without_a_host_has_an_empty_host)
{
    BOOST_TEST(read_redirection("MOVED 1 :6379").where.host.empty());
    BOOST_TEST(read_redirection("MOVED 1 ?:6379").where.host.empty());
}

// The request was not executed, and nothing else is known.
BOOST_AUTO_TEST_CASE(malformed_redirection_is_try_again)
{
    for (const char* text :
         {"MOVED", "MOVED x 127.0.0.1:1", "MOVED 16384 127.0.0.1:1", "MOVED 1 127.0.0.1",
          "MOVED 1 127.0.0.1:0", "MOVED 1 127.0.0.1:65536", "ASK -1 a:1", "ASK 1a:1 "})
        BOOST_TEST((read_redirection(text).what == redirection::kind::try_again), text);
}

BOOST_AUTO_TEST_CASE(other_error_is_no_redirection)
{
    for (const char* text : {"", "ERR MOVED 1 a:1", "MOVEDX 1 a:1", "WRONGTYPE", "READONLY x",
                             "ASKING", "NOSCRIPT No matching script"})
        BOOST_TEST((read_redirection(text).what == redirection::kind::none), text);
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

request_ptr asks(const char* owner, const char* entry = "")
{
    const auto one = std::make_shared<request>("lock", owner, entry);
    one->work = acquire_work{};
    return one;
}

request_ptr leaves(const char* owner, const char* entry = "", const char* next = "")
{
    const auto one = std::make_shared<request>("lock", owner, entry);
    one->work = release_work{.request = {}, .next = {}, .next_owner = next, .handler = {}};
    return one;
}

std::string next_of(const request_ptr& one)
{
    return std::get<release_work>(one->work).next_owner;
}

} // namespace

BOOST_AUTO_TEST_SUITE(lanes)

BOOST_AUTO_TEST_CASE(acquire_is_undone_only_by_its_own_later_release)
{
    const lane all{{asks("a:1"), asks("a:2"), leaves("a:1"), asks("a:1", "e"), leaves("a:2", "e")}};
    BOOST_TEST(is_undone(all, *all.requests[0]));
    BOOST_TEST(!is_undone(all, *all.requests[1])); // that release has an entry
    BOOST_TEST(!is_undone(all, *all.requests[2]));
    BOOST_TEST(!is_undone(all, *all.requests[3])); // sent after the release
    BOOST_TEST(!is_undone(all, *all.requests[4]));
}

// The first request must be executed first, and the order at two nodes is unknown.
BOOST_AUTO_TEST_CASE(redirected_request_blocks_later_requests_of_its_name)
{
    for (const bool sent_on : {false, true}) {
        request_lanes all;
        const auto first = asks("a:1"), second = asks("a:2");
        all.add(first);
        all.add(second);
        all.unpark(*first);
        first->now = request::state::sent;
        first->at = 1;
        if (sent_on) {
            BOOST_TEST(!all.go_carefully(*first));
            all.park(first);
            all.unpark(*first);
            first->now = request::state::sent;
        }
        lane* const both = all.find("lock");
        BOOST_TEST_REQUIRE((both != nullptr));
        BOOST_TEST(request_lanes::may_go(*both, *second, 1) == !sent_on);
        BOOST_TEST(!request_lanes::may_go(*both, *second, 2));
        all.leave(first);
        BOOST_TEST(request_lanes::may_go(*both, *second, 2));
        all.forget_all();
    }
}

BOOST_AUTO_TEST_CASE(release_does_not_enqueue_an_owner_that_has_left_since)
{
    const lane all{{leaves("a:1", "", "a:2"), leaves("a:2"), leaves("a:3", "", "a:4")}};
    BOOST_TEST(!is_undone(all, *all.requests[0]));
    BOOST_TEST(next_of(all.requests[0]).empty());
    BOOST_TEST(!is_undone(all, *all.requests[2]));
    BOOST_TEST(next_of(all.requests[2]) == "a:4");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(topologies)

BOOST_AUTO_TEST_CASE(topology_is_read_from_cluster_shards)
{
    const redis_config settings = of_cluster();
    for (const char map : {'%', '*'}) {
        const auto found = read_shards(
            read(list({shard({0, 5460, 9000, 9000},
                             {{"replica", "10.0.0.4", 7004, "10.0.0.4", "online"},
                              {"master", "10.0.0.1", 7001, "10.0.0.1", "online"}},
                             map),
                       shard({5461, 8999, 9001, 16383},
                             {{"master", "10.0.0.2", 7002, "name", "online"},
                              {"replica", "10.0.0.5", 7005, "10.0.0.5", "fail"}},
                             map),
                       shard({}, {{"master", "10.0.0.9", 7009, "10.0.0.9", "online"}}, map)})),
            asked, address_reading(settings));
        BOOST_TEST_REQUIRE(found.has_value());
        BOOST_TEST(describe(*found) == "0-5460=10.0.0.1:7001 9000-9000=10.0.0.1:7001 "
                                       "5461-8999=name:7002 9001-16383=name:7002 +10.0.0.4:7004 ");
    }
}

BOOST_AUTO_TEST_CASE(topology_prefers_the_online_master)
{
    const redis_config settings = of_cluster();
    const seen_node dead{"master", "10.0.0.1", 7001, "10.0.0.1", "fail"};
    const seen_node next{"master", "10.0.0.4", 7004, "10.0.0.4", "online"};
    for (const auto& nodes : {std::vector{dead, next}, std::vector{next, dead}}) {
        const auto found = read_shards(read(list({shard({0, 16383}, nodes)})), asked,
                                       address_reading(settings));
        BOOST_TEST_REQUIRE(found.has_value());
        BOOST_TEST(describe(*found) == "0-16383=10.0.0.4:7004 ");
    }
    const auto found = read_shards(read(list({shard({0, 16383}, {dead})})), asked,
                                   address_reading(settings));
    BOOST_TEST_REQUIRE(found.has_value());
    BOOST_TEST(describe(*found) == "0-16383=10.0.0.1:7001 ");

    // If two nodes claim the slot, the first counts, each time.
    const seen_node other{"master", "10.0.0.5", 7005, "10.0.0.5", "online"};
    const auto first = read_shards(read(list({shard({0, 16383}, {next, other})})), asked,
                                   address_reading(settings));
    BOOST_TEST_REQUIRE(first.has_value());
    BOOST_TEST(describe(*first) == "0-16383=10.0.0.4:7004 ");
}

BOOST_AUTO_TEST_CASE(node_without_a_host_is_at_the_address_of_the_sender)
{
    const redis_config settings = of_cluster();
    for (const char* unknown : {"", "?"}) {
        const auto found = read_shards(
            read(list({shard({0, 16383}, {{"master", "", 7001, unknown, "online"}})})), asked,
            address_reading(settings));
        BOOST_TEST_REQUIRE(found.has_value());
        BOOST_TEST(describe(*found) == "0-16383=seed:7001 ");
    }
}

BOOST_AUTO_TEST_CASE(node_without_an_endpoint_is_at_its_address)
{
    const redis_config settings = of_cluster();
    for (const char* unknown : {"", "?"}) {
        const auto found = read_shards(
            read(list({shard({0, 16383}, {{"master", "10.0.0.9", 7001, unknown, "online"}})})),
            asked, address_reading(settings));
        BOOST_TEST_REQUIRE(found.has_value());
        BOOST_TEST(describe(*found) == "0-16383=10.0.0.9:7001 ");
    }
}

BOOST_AUTO_TEST_CASE(topology_over_tls_has_the_tls_ports)
{
    const redis_config settings("rediss+cluster://seed");
    const auto found = read_shards(
        read(list({shard({0, 16383}, {{"master", "10.0.0.1", 7001, "10.0.0.1", "online"}})})),
        asked, address_reading(settings));
    BOOST_TEST_REQUIRE(found.has_value());
    BOOST_TEST(describe(*found) == "0-16383=10.0.0.1:8001 ");
}

BOOST_AUTO_TEST_CASE(topology_is_read_from_cluster_slots)
{
    const redis_config settings = of_cluster();
    const auto at = [](std::string_view host, int port) {
        return list({bulk(host), number(port), bulk("id"), list({})});
    };
    const auto found = read_slots(
        read(list({list({number(0), number(99), at("10.0.0.1", 7001), at("10.0.0.4", 7004)}),
                   list({number(200), number(16383), at("", 7002), at("10.0.0.4", 7004)})})),
        asked, address_reading(settings));
    BOOST_TEST_REQUIRE(found.has_value());
    BOOST_TEST(describe(*found) == "0-99=10.0.0.1:7001 200-16383=seed:7002 +10.0.0.4:7004 ");
}

BOOST_AUTO_TEST_CASE(address_map_translates_addresses)
{
    redis_config settings = of_cluster();
    settings.address_map = {{{"10.0.0.1", 7001}, {"gate", 9001}},
                            {{"10.0.0.1", 0}, {"gate", 0}},
                            {{"10.0.0.2", 0}, {"gate", 9002}}};
    const address_reading reached(settings);
    BOOST_TEST((reached({"10.0.0.1", 7001}, asked) == redis_config::address{"gate", 9001}));
    BOOST_TEST((reached({"10.0.0.1", 7002}, asked) == redis_config::address{"gate", 7002}));
    BOOST_TEST((reached({"10.0.0.2", 7002}, asked) == redis_config::address{"gate", 9002}));
    BOOST_TEST((reached({"10.0.0.3", 7003}, asked) == redis_config::address{"10.0.0.3", 7003}));
}

BOOST_AUTO_TEST_CASE(address_map_translates_an_address_only_once)
{
    redis_config settings = of_cluster();
    settings.address_map = {{{"one", 0}, {"two", 0}}, {{"two", 0}, {"one", 0}}};
    const address_reading reached(settings);
    BOOST_TEST((reached({"one", 7001}, asked) == redis_config::address{"two", 7001}));
    BOOST_TEST((reached({"two", 7001}, asked) == redis_config::address{"one", 7001}));
}

BOOST_AUTO_TEST_CASE(malformed_or_empty_topology_is_rejected)
{
    const redis_config settings = of_cluster();
    const address_reading reached(settings);
    for (const std::string& text :
         {list({}), list({list({})}), bulk("text"), number(1),
          list({shard({0}, {{"master", "10.0.0.1", 7001, "10.0.0.1", "online"}})}),
          list({shard({5, 4, -1, 3, 0, 16384},
                      {{"master", "10.0.0.1", 7001, "10.0.0.1", "online"}})}),
          list({shard({0, 16383}, {{"master", "10.0.0.1", 0, "10.0.0.1", "online"}})}),
          list({shard({0, 16383}, {{"replica", "10.0.0.1", 7001, "10.0.0.1", "online"}})}),
          list({list({number(0)})}), list({list({number(0), number(1), list({})})}),
          list({list({number(0), bulk("x"), list({bulk("h"), number(1)})})})}) {
        BOOST_TEST(!read_shards(read(text), asked, reached).has_value(), text);
        BOOST_TEST(!read_slots(read(text), asked, reached).has_value(), text);
    }
    const reply_tree refused = read("-ERR This instance has cluster support disabled\r\n");
    BOOST_TEST(refused.error() == "ERR This instance has cluster support disabled");
    BOOST_TEST(!read_shards(refused, asked, reached).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
