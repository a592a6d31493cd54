// Compares scripts and commands of the simulated server with those of a real one: each gets the
// same reply, with the same error text.
#include "sim/model_comparison.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"
#include "testing/server/lua_interpreter.hpp"
#include "testing/server/redis_model.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using testing::impl::lua_interpreter;
using testing::impl::message;
using testing::impl::redis_model;
using testing::impl::reply_sink;
using testing::impl::words;

namespace {

/// The element at `at`, in the format of `describe`. Moves `at` behind it.
std::string describe(const message& said, std::size_t& at)
{
    using boost::redis::resp3::type;
    const auto& node = said.nodes()[at++];
    switch (node.data_type) {
    case type::null: return "nil";
    case type::simple_error: return "error: " + node.value;
    case type::blob_string: return '"' + node.value + '"';
    case type::array:
    case type::map: break;
    default: return node.value;
    }
    const std::size_t size = node.aggregate_size * (node.data_type == type::map ? 2 : 1);
    std::string all = "[";
    for (std::size_t i = 0; i < size; ++i)
        all.append(i == 0 ? "" : ", ").append(describe(said, at));
    return all + "]";
}

/// Both servers.
struct two_servers
{
    two_servers()
    {
        const auto info = server.info("server");
        const auto version = info.find("redis_version");
        same_texts = version != info.end() && version->second.starts_with("7.0.");
    }

    /// Error texts differ between versions. Those of Redis 7.0 are compared completely, others by
    /// their code.
    [[nodiscard]] std::string comparable(std::string text, bool whole) const
    {
        const auto error = text.find("error: ");
        if (error == std::string::npos || (whole && same_texts))
            return text;
        return text.substr(0, text.find(' ', error + sizeof "error: " - 1));
    }

    void compare(const command& asked, bool whole = true)
    {
        std::size_t at = 0;
        const message reply = execute(model, asked, 1s);
        const std::string said = describe(reply, at);
        std::string shown;
        for (const std::string& each : asked)
            shown += each + ' ';
        BOOST_TEST_CONTEXT(shown)
        BOOST_TEST(comparable(said, whole) ==
                   comparable(leasehold::test::describe(server.command(asked)), whole));
    }

    void compare_scripts(std::initializer_list<const char*> texts)
    {
        for (const char* const text : texts)
            compare({"EVAL", text, "2", "key", "other", "one", "2"});
    }

    redis_server process;
    resp_client server = process.connect();
    redis_model model;
    bool same_texts = false;
};

/// A command of a table: its words, with spaces between them.
command split(std::string_view text)
{
    command all;
    while (!text.empty()) {
        const auto end = text.find(' ');
        all.emplace_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return all;
}

/// In this order, because each uses the keys of the earlier ones.
constexpr const char* all_commands[] = {
    "SET text 5",
    "GET text",
    "GET none",
    "SET text 6 NX",
    "SET text 6 XX",
    "SET text 7 GET",
    "SET none 7 XX",
    "SET none 7 XX GET",
    "SET text 8 PX 100000",
    "SET text 9 KEEPTTL",
    "SET text 9 PX 0",
    "SET text 9 PX x",
    "SET text 9 NX XX",
    "SET text 9 KEEPTTL PX 5",
    "SET text 9 BAD",
    "SET text",
    "PERSIST text",
    "PERSIST text",
    "PTTL text",
    "PTTL none",
    "INCRBY text 3",
    "INCRBY text x",
    "INCRBY text 9223372036854775807",
    "INCRBY none2 2",
    "GET",
    "GET text text",
    "TYPE text",
    "TYPE none",
    "EXISTS text none text",
    "EXISTS",
    "HSET hash a 1",
    "HSET hash a 2 b 3",
    "HSET hash a",
    "HSET hash a 1 b",
    "HSET text a 1",
    "HGET hash a",
    "HGET hash none",
    "HGET text a",
    "HGET none a",
    "HMGET hash a none b",
    "HMGET none a",
    "HMGET text a",
    "HMGET hash",
    "HEXISTS hash a",
    "HEXISTS hash none",
    "HLEN hash",
    "HLEN none",
    "HGETALL hash",
    "HGETALL none",
    "HGETALL text",
    "HINCRBY hash a 5",
    "HINCRBY hash a x",
    "HSET hash c x",
    "HINCRBY hash c 1",
    "HDEL hash c",
    "HDEL hash c",
    "MGET text hash none text",
    "HSET one a 1",
    "HRANDFIELD one",
    "HRANDFIELD none",
    "HRANDFIELD text",
    "RPUSH list a",
    "RPUSH list b",
    "RPUSH text b",
    "LINDEX list 0",
    "LINDEX list 5",
    "LINDEX none 0",
    "LINDEX list x",
    "LINDEX text 0",
    "LPOS list b MAXLEN 32",
    "LPOS list b MAXLEN 1",
    "LPOS none b MAXLEN 1",
    "LRANGE list 0 -1",
    "LRANGE none 0 -1",
    "LRANGE text 0 -1",
    "LREM list 1 a",
    "LREM list 1 a",
    "LREM none 1 a",
    "LPOP list",
    "LPOP list",
    "LPOP text",
    "TYPE list",
    "PEXPIRE hash 100000",
    "PEXPIRE none 5",
    "PEXPIRE hash x",
    "PEXPIRE hash 0",
    "EXISTS hash",
    "PUBLISH channel text",
    "PUBLISH channel",
    "PING",
    "PING text",
    "SELECT 0",
    "DEL text none one",
    "DEL",
    "FLUSHALL",
    "EXISTS text",
    "NOSUCH command",
    "TIME now",
};

} // namespace

BOOST_AUTO_TEST_SUITE(lua_interpreter_test)

BOOST_FIXTURE_TEST_CASE(values_become_replies_as_on_a_server, two_servers)
{
    compare_scripts({
        "return nil",
        "",
        "return true",
        "return false",
        "return 3",
        "return 3.99",
        "return -3.99",
        "return 9007199254740993",
        "return 1e300",
        "return 'text'",
        "return 'a\\0b'",
        "return {}",
        "return {1, 'two', {3, {'four'}}, true, false}",
        "return {1, nil, 3}",
        "return {nil, 2}",
        "return {{}, {{}}}",
        "return {name = 'value'}",
        "return {1, 2, name = 'value'}",
        "return {ok = 'fine'}",
        "return {1, ok = 'fine'}",
        "return {err = 'CODE and text'}",
        "return {1, err = 'CODE and text'}",
        "return {err = 5}",
        "return {{err = 'CODE inside'}, {ok = 'fine'}}",
        "return function() end",
        "return {1, function() end, 3}",
        "return redis.error_reply('CODE and text')",
        "return redis.error_reply('-CODE and text')",
        "return redis.error_reply('text')",
        "return redis.error_reply()",
        "return redis.sha1hex('')",
        "return {KEYS[1], KEYS[2], KEYS[3], #KEYS, ARGV[1], ARGV[2], ARGV[3], #ARGV}",
    });
}

BOOST_FIXTURE_TEST_CASE(replies_to_calls_become_values_as_on_a_server, two_servers)
{
    for (const char* const each : {"SET text 5", "HSET hash a 1 b 2", "RPUSH list x"})
        compare(split(each));
    compare_scripts({
        "return type(redis.call('GET', 'none'))",
        "return tostring(redis.call('GET', 'none'))",
        "return redis.call('GET', 'none') == false",
        "return type(redis.call('GET', 'text'))",
        "return type(redis.call('EXISTS', 'text'))",
        "return redis.call('SET', 'text', 6).ok",
        "return redis.call('TYPE', 'hash').ok",
        "return redis.call('HGETALL', 'hash')",
        "return #redis.call('HGETALL', 'hash')",
        "return redis.call('HMGET', 'hash', 'a', 'none', 'b')",
        "return tostring(redis.call('HMGET', 'hash', 'a', 'none')[2])",
        "return type(redis.call('TIME')[1])",
        "return redis.pcall('HGET', 'text', 'a').err",
        "return redis.pcall('HGET', 'text', 'a')",
        "return type(string.match(redis.call('INFO', 'server'), 'run_id:(%x+)'))",
        // Numbers as arguments.
        "redis.call('SET', 'text', 1) return redis.call('GET', 'text')",
        "redis.call('SET', 'text', 1.5) return redis.call('GET', 'text')",
        "redis.call('SET', 'text', -0.1) return redis.call('GET', 'text')",
        "redis.call('SET', 'text', 9007199254740993) return redis.call('GET', 'text')",
        "redis.call('SET', 'text', 1e16) return redis.call('GET', 'text')",
        "redis.call('SET', 'text', 1e17) return redis.call('GET', 'text')",
        "redis.call('SET', 'text', 1e300) return redis.call('GET', 'text')",
        "redis.call('SET', 'text', 'a\\0b') return redis.call('GET', 'text')",
    });
}

BOOST_FIXTURE_TEST_CASE(errors_have_the_texts_of_a_server, two_servers)
{
    compare(split("SET text 5"));
    compare_scripts({
        "return redis.call('HGET', 'text', 'a')",
        "\n\nreturn redis.call('HGET', 'text', 'a')",
        "local function f()\nredis.call('HGET', 'text', 'a')\nend\n\nf()",
        "return redis.call('NOSUCH', 'key')",
        "return redis.call('GET')",
        "return redis.call('INCRBY', 'text', 'x')",
        "return redis.call('EVAL', 'return 1', 0)",
        "return redis.pcall('EVAL', 'return 1', 0)",
        "return redis.pcall('EVALSHA', 'x', 0)",
        "return redis.call('SCRIPT', 'FLUSH')",
        "return redis.call()",
        "return redis.pcall()",
        "return redis.call({})",
        "return redis.call('GET', nil)",
        "return redis.pcall('GET', true)",
        "error('text')",
        "error('text', 0)",
        "error({err = 'CODE and text'})",
        "error(redis.pcall('HGET', 'text', 'a'))",
        "local x = 'a' + 1",
        "local x = {}\n\nreturn x.y.z",
        "return #nil",
        "string.rep()",
        "return 1 +",
        "while",
    });
}

BOOST_FIXTURE_TEST_CASE(globals_are_rejected_as_on_a_server, two_servers)
{
    compare_scripts({
        "x = 1",
        "return x",
        "return type(x)",
        "\nfunction f() end",
        "redis = 1",
        "KEYS = 1",
        "string = nil",
        "_G.x = 1",
        "return _G.x",
        "return dofile('x')",
        "return loadfile('x')",
        "return print('x')",
        "local x = 1 return x",
    });
}

BOOST_FIXTURE_TEST_CASE(script_leaves_no_state_to_the_next, two_servers)
{
    compare({"EVAL", "return {#KEYS, #ARGV}", "2", "a", "b", "c", "d", "e"});
    compare({"EVAL", "return {#KEYS, #ARGV, KEYS[1], ARGV[1]}", "0"});
    compare({"EVAL", "error('text')", "1", "a", "b"});
    compare({"EVAL", "return {#KEYS, #ARGV}", "0"});
}

BOOST_FIXTURE_TEST_CASE(scripts_are_cached_as_on_a_server, two_servers)
{
    const std::string sha = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"; // of "return 1"
    compare({"EVALSHA", sha, "0"});
    compare({"SCRIPT", "LOAD", "return 1"});
    compare({"EVALSHA", sha, "0"});
    compare({"SCRIPT", "FLUSH"});
    compare({"EVALSHA", sha, "0"});
    compare({"EVAL", "return 1", "0"});
    compare({"EVALSHA", sha, "0"});
    compare({"EVAL", "return 1", "-1"});
    compare({"EVAL", "return 1", "x"});
    compare({"EVAL", "return 1", "1"});
    compare({"EVAL", "return 1"});
}

BOOST_FIXTURE_TEST_CASE(commands_get_the_replies_of_a_server, two_servers)
{
    for (const char* const each : all_commands)
        compare(split(each), false);
}

BOOST_FIXTURE_TEST_CASE(commands_of_scripts_get_the_replies_of_a_server, two_servers)
{
    for (const char* const how :
         {"return redis.pcall(unpack(ARGV))", "return redis.call(unpack(ARGV))"}) {
        for (const char* const each : all_commands) {
            command asked = split(each);
            asked.insert(asked.begin(), {"EVAL", how, "0"});
            compare(asked);
        }
    }
}

BOOST_AUTO_TEST_CASE(exception_of_a_command_leaves_the_script)
{
    struct failing final : lua_interpreter::commands
    {
        void run(words, reply_sink&) override { throw std::runtime_error("of the server"); }
    } commands;
    struct answering final : lua_interpreter::commands
    {
        void run(words, reply_sink& out) override { out.number(7); }
    } others;
    lua_interpreter interpreter;
    for (const char* const text : {"redis.call('GET', 'key')", "redis.pcall('GET', 'key')",
                                   "pcall(redis.pcall, 'GET', 'key')"}) {
        BOOST_CHECK_THROW(interpreter.run(redis_store::script(text), {}, {}, commands),
                          std::runtime_error);
        const auto next = interpreter.run(redis_store::script("return redis.call('GET', 'key')"),
                                          {}, {}, others);
        BOOST_TEST(next.error == "");
        BOOST_TEST(next.reply.nodes().front().value == "7");
    }
}

BOOST_AUTO_TEST_CASE(script_within_a_script_is_a_logic_error)
{
    lua_interpreter interpreter;
    struct nested final : lua_interpreter::commands
    {
        explicit nested(lua_interpreter& with) : interpreter(with) {}
        void run(words, reply_sink&) override
        {
            interpreter.run(redis_store::script("return 1"), {}, {}, *this);
        }
        lua_interpreter& interpreter;
    } commands(interpreter);
    BOOST_CHECK_THROW(
        interpreter.run(redis_store::script("redis.call('GET', 'key')"), {}, {}, commands),
        std::logic_error);
}

BOOST_AUTO_TEST_SUITE_END()
