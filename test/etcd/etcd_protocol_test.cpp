// The store in etcd without a server: its configuration, the names of keys, requests and replies.
#include <boost/test/unit_test.hpp>

#include "base/base64.hpp"
#include "etcd/protocol/errors.hpp"
#include "etcd/protocol/json.hpp"
#include "etcd/protocol/key_names.hpp"
#include "etcd/protocol/replies.hpp"
#include "etcd/protocol/requests.hpp"

#include <leasehold/error.hpp>
#include <leasehold/etcd.hpp>

#include <boost/system/system_error.hpp>

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::etcd_store;
using namespace std::chrono_literals;

std::string refusal_of(std::string_view url)
{
    try {
        static_cast<void>(etcd_config(url));
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

constexpr const char* header = R"("header":{"member_id":"7","raft_term":"2","revision":"9"})";

} // namespace

BOOST_AUTO_TEST_CASE(url_sets_each_field)
{
    const etcd_config c(
        "etcd://orders:a%3Ab@etcd1:2380,etcd2,[::1]:2381/app/locks?session=8000&timeout=500&"
        "reconnect=20&tls=on&ca=ca.pem&cert=c.pem&key=k.pem&verify=none&client_info=off");
    const std::vector<etcd_config::address> expected{
        {"etcd1", 2380}, {"etcd2", 2379}, {"::1", 2381}};
    BOOST_TEST((c.addresses == expected));
    BOOST_TEST(c.root == "app/locks");
    BOOST_TEST(c.user == "orders");
    BOOST_TEST(c.password == "a:b");
    BOOST_TEST((c.session == 8s && c.timeout == 500ms && c.reconnect == 20ms));
    BOOST_TEST((c.tls && !c.tls_verify && !c.client_info));
    BOOST_TEST((c.tls_ca_file == "ca.pem" && c.tls_cert_file == "c.pem"));
    BOOST_TEST(c.tls_key_file == "k.pem");
    BOOST_TEST(etcd_config("etcd://h").root.empty());
    BOOST_TEST(etcd_config("etcd://h/").root.empty());
    BOOST_TEST(etcd_config("etcd://h//app").root == "/app");
}

BOOST_AUTO_TEST_CASE(wrong_url_is_rejected_with_its_wrong_part)
{
    const struct
    {
        const char* url;
        const char* part;
    } all[] = {{"h:2379", "no scheme"},
               {"redis://h", "scheme is 'redis'"},
               {"etcd:h", "no '//'"},
               {"etcd:///locks", "host is ''"},
               {"etcd://h:0", "port is '0'"},
               {"etcd://h/a/", "root is 'a/'"},
               {"etcd://h/%C3%A4", "root is"},
               {"etcd://h?session=1000", "must be 2000 to 300000 ms"},
               {"etcd://h?tls=yes", "tls is 'yes'"},
               {"etcd://h?ca=x", "tls is off"},
               {"etcd://h?verify=no", "verify is 'no'"},
               {"etcd://:secret@h", "user is empty"},
               {"etcd://u:secret@h?password_file=f", "password_file is 'f'"},
               {"etcd://h?timeout=0", "timeout is '0 ms'"},
               {"etcd://h?tick=1", "parameter is 'tick'"}};
    for (const auto& each : all) {
        const std::string text = refusal_of(each.url);
        BOOST_TEST(contains(text, each.part), each.url << ": " << text);
        BOOST_TEST(!contains(text, "secret"));
    }
}

BOOST_AUTO_TEST_CASE(scheme_makes_a_store)
{
    const auto made = make_store("etcd://127.0.0.1:1");
    BOOST_TEST(made->traits().session);
    BOOST_TEST((made->traits().fences == store_traits::fence_source::revision));
    BOOST_CHECK_THROW(
        static_cast<void>(make_etcd_store(etcd_config("etcd://h?tls=on&ca=/no/such/file"))),
        boost::system::system_error);
}

BOOST_AUTO_TEST_CASE(names_of_locks_have_different_prefixes)
{
    using namespace std::string_literals;
    std::set<std::string> seen;
    for (const std::string& name : {""s, "a"s, "a/b"s, "a%2Fb"s, "%"s, "%empty"s, "%clients"s, "."s,
                                    "\xff"s, "nul\0"s, " "s}) {
        const std::string prefix = lock_prefix("root", name);
        BOOST_TEST(prefix.starts_with("root/"));
        BOOST_TEST(prefix.find('/', 5) == prefix.size() - 1);
        BOOST_TEST(seen.insert(prefix).second, prefix);
        const std::string key = owner_key(prefix, "a:1");
        BOOST_TEST((lock_of_key("root", key) == name), key);
        BOOST_TEST(owner_of_key(key) == "a:1");
    }
    BOOST_TEST(lock_prefix("", "orders") == "orders/");
    BOOST_TEST(lock_prefix("/app", "orders") == "/app/orders/");
    BOOST_TEST(!lock_of_key("root", client_key("root", "a")));
    for (const char* key : {"root", "root/a", "root/a/b/c", "other/a/b", "root//b", "root/%zz/b"})
        BOOST_TEST(!lock_of_key("root", key), key);
    BOOST_TEST(owner_of_key("root/a/694d71ddacfda227").empty());
    BOOST_TEST(end_of_prefix("a/") == "a0");
}

BOOST_AUTO_TEST_CASE(base64_is_written_and_read)
{
    for (const std::string& text : {std::string(), std::string("a"), std::string("ab"),
                                    std::string("abc"), std::string("\0\xff\x80", 3)})
        BOOST_TEST((detail::decode_base64(detail::encode_base64(text)) == text));
    BOOST_TEST(detail::encode_base64("fo") == "Zm8=");
    BOOST_TEST(detail::encode_base64("foob") == "Zm9vYg==");
}

BOOST_AUTO_TEST_CASE(json_is_read)
{
    const auto read = json::parse(R"( {"a":["1",-2,{"b":true}],"text":"\"\\\n\u0041\u00e4",)"
                                  R"("none":null,"n":"18446744073709551615"} )");
    BOOST_TEST_REQUIRE(read.has_value());
    const auto& list = (*read)["a"].elements();
    BOOST_TEST_REQUIRE(list.size() == 3u);
    BOOST_TEST((list[0].integer() == 1 && list[1].integer() == -2));
    BOOST_TEST(list[2]["b"].is_true());
    BOOST_TEST(!list[1].natural());
    BOOST_TEST((*read)["text"].text() == "\"\\\nA\u00e4");
    BOOST_TEST((*read)["none"].integer().value() == 0);
    BOOST_TEST((*read)["missing"]["deeper"].natural().value() == 0u);
    BOOST_TEST((*read)["n"].natural().value() == UINT64_MAX);
    BOOST_TEST(!(*read)["n"].integer());
    BOOST_TEST(json_string("a\"\\\n") == R"("a\"\\\n")");
}

BOOST_AUTO_TEST_CASE(malformed_json_is_rejected)
{
    for (const char* text :
         {"", "{", "}", "[1", "[1,]", "{\"a\"}", "{\"a\":}", "{a:1}", "\"", "\"\\", "\"\\x\"",
          "\"\\u12\"", "\"\n\"", "tru", "nul", "1 2", "[1 2]", "--"})
        BOOST_TEST(!json::parse(text), text);
    BOOST_TEST(json::parse(std::string(20, '[') + std::string(20, ']')).has_value());
    BOOST_TEST(!json::parse(std::string(100'000, '[')));
}

BOOST_AUTO_TEST_CASE(malformed_replies_are_rejected)
{
    const std::string good = std::string("{") + header +
                             R"(,"succeeded":true,"responses":[{"response_range":{"kvs":[)"
                             R"({"key":"YQ==","create_revision":"5","mod_revision":"6"}]}},)"
                             R"({"response_txn":{"succeeded":true,"responses":[)"
                             R"({"response_delete_range":{"deleted":"1"}}]}}]})";
    const auto read = read_transaction(good);
    BOOST_TEST_REQUIRE(read.has_value());
    BOOST_TEST((read->header.at == leader_mark{7, 2} && read->header.revision == 9));
    BOOST_TEST(read->result.succeeded);
    BOOST_TEST_REQUIRE(read->result.operations.size() == 2u);
    BOOST_TEST(read->result.keys(0).at(0).key == "a");
    BOOST_TEST(read->result.keys(0).at(0).created == 5u);
    BOOST_TEST(read->result.keys(7).empty());
    BOOST_TEST(read->result.operations[1].nested.operations.at(0).deleted == 1u);
    for (std::size_t i = 0; i < good.size(); ++i)
        BOOST_TEST(!read_transaction(good.substr(0, i)));
    for (const char* text :
         {"{}", "[]", "null", R"({"header":{}})", R"({"header":{"member_id":"7"}})",
          R"({"header":{"member_id":"-7","raft_term":"2"}})",
          R"({"header":{"member_id":"7","raft_term":"2"},"responses":[1]})",
          R"({"header":{"member_id":"7","raft_term":"2"},)"
          R"("responses":[{"response_range":{"kvs":[{}]}}]})"})
        BOOST_TEST(!read_transaction(text), text);
    BOOST_TEST(!read_grant(std::string("{") + header + "}"));
    BOOST_TEST(!read_keep_alive("{}"));
    BOOST_TEST(!read_token("{}"));
    BOOST_TEST(!read_watch("{}"));
}

BOOST_AUTO_TEST_CASE(keep_alive_of_an_ended_lease_has_no_ttl)
{
    const auto ended = read_keep_alive(std::string(R"({"result":{)") + header + R"(,"ID":"5"}})");
    BOOST_TEST_REQUIRE(ended.has_value());
    BOOST_TEST(ended->seconds == 0);
    const auto kept = read_keep_alive(std::string(R"({"result":{)") + header +
                                      R"(,"ID":"5","TTL":"10"}})");
    BOOST_TEST_REQUIRE(kept.has_value());
    BOOST_TEST((kept->lease == 5 && kept->seconds == 10));
}

BOOST_AUTO_TEST_CASE(watch_stream_reports_removals)
{
    const auto created = read_watch(R"({"result":{"watch_id":"3","created":true}})");
    BOOST_TEST((created && created->watch == 3 && created->created && !created->removed));
    const auto removed = read_watch(
        R"({"result":{"watch_id":"3","events":[{"type":"DELETE","kv":{"key":"YQ=="}}]}})");
    BOOST_TEST((removed && removed->removed));
    const auto canceled = read_watch(R"({"result":{"watch_id":"3","canceled":true}})");
    BOOST_TEST((canceled && canceled->canceled));
}

BOOST_AUTO_TEST_CASE(server_errors_have_a_code_and_a_text)
{
    const auto meaning = [](int status, const char* body) {
        return classify(read_error(status, body));
    };
    BOOST_TEST((meaning(403, R"({"message":"etcdserver: permission denied","code":7})") ==
                errc::permission_denied));
    BOOST_TEST((meaning(400, R"({"message":"etcdserver: user name is empty","code":3})") ==
                errc::permission_denied));
    BOOST_TEST(
        (meaning(429, R"({"message":"etcdserver: mvcc: database space exceeded","code":8})") ==
         errc::store_refused));
    BOOST_TEST((meaning(503, R"({"message":"etcdserver: request timed out","code":14})") ==
                errc::outcome_unknown));
    BOOST_TEST((meaning(503, R"({"message":"etcdserver: no leader","code":14})") ==
                errc::outcome_unknown));
    BOOST_TEST((meaning(404, "404 page not found") == errc::not_supported));
    BOOST_TEST((meaning(502, "<html>") == errc::outcome_unknown));
    const server_error gone = read_error(
        404, R"({"message":"etcdserver: requested lease not found","code":5})");
    BOOST_TEST((is_lease_gone(gone) && classify(gone) == errc::store_unavailable));
    const server_error token = read_error(
        401, R"({"message":"etcdserver: invalid auth token","code":16})");
    BOOST_TEST((needs_authentication(token) && !needs_authentication(gone)));
    BOOST_TEST(etcd_store::text_of(token) == "etcdserver: invalid auth token (gRPC 16)");
    BOOST_TEST(contains(etcd_store::text_of(read_error(404, "x")), "etcd 3.4 or newer"));
    const server_error in_stream = read_error(
        500, R"({"error":{"grpc_code":14,"message":"etcdserver: no leader"}})");
    BOOST_TEST((in_stream.code == 14 && in_stream.text == "etcdserver: no leader"));
    BOOST_TEST((trouble_of(in_stream).code == errc::store_unavailable));
}
