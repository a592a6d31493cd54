// The errors of each server product, and the meaning of each.
#include <boost/test/unit_test.hpp>

#include "redis/connection/readiness_check.hpp"
#include "redis/protocol/reply.hpp"
#include "redis/protocol/script.hpp"

#include <boost/redis/resp3/parser.hpp>
#include <boost/redis/resp3/type.hpp>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::redis_store;

void means(errc meaning, std::initializer_list<std::string_view> texts)
{
    for (const std::string_view text : texts)
        BOOST_TEST_CONTEXT(text)
        {
            BOOST_TEST((error_code(classify(text)) == error_code(meaning)));
        }
}

} // namespace

BOOST_AUTO_TEST_SUITE(error_meanings)

// The request was not executed, and a retry may be.
BOOST_AUTO_TEST_CASE(temporary_server_errors_are_store_refused)
{
    means(errc::store_refused,
          {
              // Redis 6.2, 7.0, 7.2, 8
              "LOADING Redis is loading the dataset in memory",
              "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN "
              "NOSAVE.",
              "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN "
              "NOSAVE.",
              "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
              "READONLY You can't write against a read only replica.",
              "OOM command not allowed when used memory > 'maxmemory'.",
              "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to "
              "persist to disk.",
              "MISCONF Errors writing to the AOF file: No space left on device",
              "NOREPLICAS Not enough good replicas to write.",
              "NOSCRIPT No matching script. Please use EVAL.",
              "NOSCRIPT No matching script.",
              "MOVED 3999 127.0.0.1:6381",
              "ASK 3999 127.0.0.1:6381",
              "TRYAGAIN Multiple keys request during rehashing of slot",
              "CLUSTERDOWN The cluster is down",
              "CLUSTERDOWN Hash slot not served",
              "ERR max number of clients reached",
              "ERR max number of clients + cluster connections reached",
              // Valkey
              "LOADING Valkey is loading the dataset in memory",
              "BUSY Valkey is busy running a script. You can only call SCRIPT KILL or SHUTDOWN "
              "NOSAVE.",
              // Inside a script: 7.0 and later, with the code in front.
              "OOM command not allowed when used memory > 'maxmemory'. script: "
              "8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de, on @user_script:64.",
              "READONLY You can't write against a read only replica. script: "
              "8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de, on @user_script:64.",
              "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to "
              "persist to disk. script: 8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de, on "
              "@user_script:64.",
              // Inside a script: 6.2 wraps the error.
              "ERR Error running script (call to f_8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de): "
              "@user_script:64: -OOM command not allowed when used memory > 'maxmemory'.",
              "ERR Error running script (call to f_8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de): "
              "@user_script:64: @user_script: 64: -OOM command not allowed when used memory > "
              "'maxmemory'.",
              "ERR Error running script (call to f_8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de): "
              "@user_script:64: @user_script: 64: -READONLY You can't write against a read only "
              "replica.",
              "ERR Error running script (call to f_8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de): "
              "@user_script:64: -MISCONF Redis is configured to save RDB snapshots, but it is "
              "currently not able to persist on disk.",
              "ERR Error running script (call to f_8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de): "
              "@user_script:64: @user_script: 64: -NOREPLICAS Not enough good replicas to write.",
              // Possible texts of a proxy, with unknown meaning.
              "no upstream host",
              "ERR",
          });
}

BOOST_AUTO_TEST_CASE(rejected_hello_is_recognized)
{
    for (const std::string_view text :
         {"NOPROTO unsupported protocol version", "ERR unknown command 'HELLO'",
          "ERR unknown command", "ERR unsupported command 'hello'", "unsupported command 'hello'",
          "ERR wrong number of arguments for 'hello' command"})
        BOOST_TEST(hello_rejection(text).starts_with(std::string(text) + " (HELLO is rejected"));
    BOOST_TEST(hello_rejection("ERR unknown command `HELLO`, with args beginning with: `3`, `AUTH`")
                   .starts_with("ERR unknown command `HELLO` (HELLO"));
    for (const std::string_view text :
         {"",
          "NOAUTH HELLO must be called with the client already authenticated, otherwise the "
          "HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client",
          "NOPERM this user has no permissions to run the 'hello' command",
          "WRONGPASS invalid username-password pair or user is disabled.",
          "ERR unknown command 'SELECT'", "ERR DB index is out of range", "ERR no upstream host",
          "LOADING Redis is loading the dataset in memory"})
        BOOST_TEST(hello_rejection(text) == "", text);
}

BOOST_AUTO_TEST_CASE(rejected_login_is_recognized)
{
    for (const std::string_view text :
         {"WRONGPASS invalid username-password pair or user is disabled.",
          "NOAUTH Authentication required.", "ERR invalid password",
          "ERR AUTH <password> called without any password configured for the default user. Are "
          "you sure your configuration is correct?",
          "ERR Client sent AUTH, but no password is set"})
        BOOST_TEST(is_login_rejected(text), text);
    for (const std::string_view text :
         {"", "NOPERM this user has no permissions to run the 'hello' command",
          "ERR unknown command 'AUTH'", "DENIED Redis is running in protected mode"})
        BOOST_TEST(!is_login_rejected(text), text);
}

BOOST_AUTO_TEST_CASE(missing_rights_are_permission_denied)
{
    means(errc::permission_denied,
          {
              "NOAUTH Authentication required.",
              "NOAUTH HELLO must be called with the client already authenticated, otherwise the "
              "HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and "
              "select the RESP protocol version at the same time",
              "WRONGPASS invalid username-password pair or user is disabled.",
              "ERR invalid password",
              "ERR AUTH <password> called without any password configured for the default user. "
              "Are you sure your configuration is correct?",
              "ERR Client sent AUTH, but no password is set",
              "DENIED Redis is running in protected mode because protected mode is enabled",
              // 6.2
              "NOPERM this user has no permissions to run the 'evalsha' command or its subcommand",
              "NOPERM this user has no permissions to access one of the keys used as arguments",
              // 7.0
              "NOPERM this user has no permissions to run the 'evalsha' command",
              "NOPERM this user has no permissions to access one of the channels used as arguments",
              // 7.2, 8, Valkey
              "NOPERM User default has no permissions to run the 'evalsha' command",
              "NOPERM No permissions to access a key",
              "NOPERM No permissions to access a channel",
              // Inside a script: 6.2, 7.0, 7.2 and later.
              "ERR Error running script (call to f_8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de): "
              "@user_script:64: @user_script: 64: The user executing the script can't run this "
              "command or subcommand",
              "ERR Error running script (call to f_8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de): "
              "@user_script:64: @user_script: 64: The user executing the script can't access at "
              "least one of the keys mentioned in the command arguments",
              "ERR The user executing the script can't run this command or subcommand script: "
              "8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de, on @user_script:64.",
              "NOPERM ACL failure in script: User default has no permissions to run the 'hset' "
              "command script: 8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de, on @user_script:64.",
              "ERR ACL failure in script: No permissions to access a key script: "
              "8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de, on @user_script:64.",
          });
}

BOOST_AUTO_TEST_CASE(missing_commands_are_not_supported)
{
    means(errc::not_supported,
          {
              "ERR unknown command `EVALSHA`, with args beginning with: `8d3c4a0f`, `2`, ", // 6.2
              "ERR unknown command 'EVALSHA', with args beginning with: '8d3c4a0f' '2' ",   // 7
              "ERR unknown command 'HELLO', with args beginning with: '3' ",
              "ERR Unknown subcommand or wrong number of arguments for 'LOAD'. Try SCRIPT HELP.",
              "ERR unknown subcommand 'LOAD'. Try SCRIPT HELP.",
              "ERR wrong number of arguments for 'evalsha' command",
              "NOPROTO unsupported protocol version",
              "NOPROTO sorry, this protocol version is not supported.",
              "CROSSSLOT Keys in request don't hash to the same slot",
              "ERR SELECT is not allowed in cluster mode",
              "ERR Error compiling script (new function): user_script:1: '=' expected near 'x'",
              // Inside a script: 6.2, 7.0 and later.
              "ERR Error running script (call to f_8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de): "
              "@user_script:64: @user_script: 64: Unknown Redis command called from Lua script",
              "ERR Unknown Redis command called from script script: "
              "8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de, on @user_script:64.",
              "ERR This Redis command is not allowed from script script: "
              "8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de, on @user_script:64.",
              "ERR Script attempted to access a non local key in a cluster node script: "
              "8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de, on @user_script:64.",
              "ERR Script attempted to access keys that do not hash to the same slot script: "
              "8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de, on @user_script:64.",
          });
    means(errc::invalid_option, {"ERR DB index is out of range", "ERR invalid DB index"});
}

BOOST_AUTO_TEST_CASE(key_of_another_type_is_wrong_type)
{
    means(errc::wrong_type,
          {
              "WRONGTYPE Operation against a key holding the wrong kind of value",
              "WRONGTYPE the key stock holds string, a lock is a hash",
              "WRONGTYPE Operation against a key holding the wrong kind of value script: "
              "8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de, on @user_script:64.",
              "ERR Error running script (call to f_8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de): "
              "@user_script:64: -WRONGTYPE Operation against a key holding the wrong kind of value",
              "ERR Key should be of string type if conditions are specified",
          });
}

// The writes of a script that failed halfway remain.
BOOST_AUTO_TEST_CASE(script_that_failed_halfway_has_an_unknown_outcome)
{
    means(errc::outcome_unknown,
          {
              "ERR user_script:64: attempt to compare nil with number script: "
              "8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de, on @user_script:64.",
              "ERR Error running script (call to f_8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de): "
              "@user_script:64: user_script:64: attempt to compare nil with number",
              "ERR value is not an integer or out of range script: "
              "8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de, on @user_script:64.",
              "ERR Error running script (call to f_8d3c4a0f1f0e2f8a2a2b57a8ae9c83f4e6a4b1de): "
              "@user_script:64: Script killed by user with SCRIPT KILL...",
              "ERR Error running script: Script killed by user with SCRIPT KILL.",
          });
}

BOOST_AUTO_TEST_CASE(server_that_serves_nothing_is_detected)
{
    for (const char* text :
         {"LOADING Redis is loading the dataset in memory", "BUSY Valkey is busy running a script.",
          "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."})
        BOOST_TEST(is_not_serving(text));
    for (const char* text : {"", "BUSYKEY Target key name already exists.", "READONLY x", "OOM x"})
        BOOST_TEST(!is_not_serving(text));
    BOOST_TEST(is_read_only("READONLY You can't write against a read only replica."));
    BOOST_TEST(is_read_only("ERR Error running script (call to f_0): @user_script:3: -READONLY You "
                            "can't write against a read only replica."));
    BOOST_TEST(!is_read_only("ERR user_script:3: READONLY"));
    for (const char* text :
         {"OOM command not allowed when used memory > 'maxmemory'.",
          "ERR Error running script (call to f_0): @user_script:3: -OOM command not allowed when",
          "MISCONF Redis is configured to save RDB snapshots", "NOREPLICAS Not enough good"})
        BOOST_TEST(is_without_room(text));
    for (const char* text : {"", "READONLY x", "LOADING x", "ERR OOM", "WRONGTYPE x"})
        BOOST_TEST(!is_without_room(text));
    BOOST_TEST(is_script_missing("NOSCRIPT No matching script. Please use EVAL."));
    BOOST_TEST(!is_script_missing("ERR NOSCRIPT"));
}

BOOST_AUTO_TEST_CASE(server_message_is_extracted_from_a_log)
{
    BOOST_TEST(find_words("") == "");
    BOOST_TEST(find_words("Connect: Connection refused\n") == "");
    BOOST_TEST(find_words("Setup request execution: WRONGPASS invalid username-password pair\n"
                          "and more") == "WRONGPASS invalid username-password pair");
    BOOST_TEST(find_words("Connected\nfailed: ERR DB index is out of range\nx") ==
               "ERR DB index is out of range");
    BOOST_TEST(find_words("x ERR Error running script: -NOPERM y") == "-NOPERM y");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(reply_contents)

// Valid replies: integers, alone or in one list, a text, null, or an error. Other or deeper replies
// are malformed, because scripts do not return them.
BOOST_AUTO_TEST_CASE(each_reply_type_is_read_at_each_depth)
{
    using boost::redis::resp3::type;
    constexpr type types[] = {type::array,
                              type::push,
                              type::set,
                              type::map,
                              type::attribute,
                              type::simple_string,
                              type::simple_error,
                              type::number,
                              type::doublean,
                              type::boolean,
                              type::big_number,
                              type::null,
                              type::blob_error,
                              type::verbatim_string,
                              type::blob_string,
                              type::streamed_string,
                              type::streamed_string_part,
                              type::invalid};
    constexpr std::string_view values[] = {"", "7", "-7", "7a", "a", "9223372036854775808"};
    for (const type each : types)
        for (std::size_t depth = 0; depth < 4; ++depth)
            for (const std::string_view value : values)
                BOOST_TEST_CONTEXT(boost::redis::resp3::to_string(each)
                                   << ' ' << depth << ' ' << value)
                {
                    reply of;
                    of.record({each, 1, depth, value});
                    const bool is_error = each == type::simple_error || each == type::blob_error;
                    const bool is_text = each == type::simple_string || each == type::blob_string ||
                                         each == type::verbatim_string;
                    const bool is_whole = value == "7" || value == "-7";
                    const bool top = depth == 0;
                    const bool takes_text = is_text && top;
                    const bool takes_number = (each == type::number || (is_text && !top)) &&
                                              is_whole && depth <= 1;
                    const bool even = top ? is_error || each == type::array || each == type::null ||
                                                takes_text || takes_number
                                          : takes_number && each != type::simple_string;
                    BOOST_TEST(of.odd == !even);
                    BOOST_TEST(of.error == (!is_error       ? ""
                                            : value.empty() ? "ERR"
                                                            : std::string(value)));
                    BOOST_TEST(of.text.has_value() == takes_text);
                    if (takes_text)
                        BOOST_TEST(*of.text == value);
                    BOOST_TEST(of.numbers.size() == (takes_number ? 1u : 0u));
                    if (takes_number)
                        BOOST_TEST(of.numbers[0] == (value == "7" ? 7 : -7));
                }
}

BOOST_AUTO_TEST_CASE(reply_matches_only_its_exact_count_of_numbers)
{
    for (std::size_t count = 0; count < 4; ++count)
        for (std::size_t asked = 0; asked < 4; ++asked) {
            reply of;
            of.numbers.assign(count, 7);
            BOOST_TEST(of.is(asked) == (count == asked));
            reply odd = of;
            odd.odd = true;
            BOOST_TEST(!odd.is(asked));
            reply failed = of;
            failed.error = "ERR";
            BOOST_TEST(!failed.is(asked));
        }
}

BOOST_AUTO_TEST_SUITE_END()

// The hashes of SCRIPT LOAD and sha1sum.
BOOST_AUTO_TEST_CASE(script_hash_is_the_sha1_of_its_text)
{
    BOOST_TEST(script("").sha == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    BOOST_TEST(script("return 1").sha == "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
    BOOST_TEST(script("return 1").text == "return 1");
}

BOOST_AUTO_TEST_SUITE(readiness)

namespace {

constexpr std::string_view hello = "%3\r\n$6\r\nserver\r\n$5\r\nredis\r\n"
                                   "$4\r\nmode\r\n$10\r\nstandalone\r\n"
                                   "$7\r\nmodules\r\n*1\r\n%1\r\n$4\r\nmode\r\n$7\r\ncluster\r\n";
constexpr std::string_view loaded = "$1\r\na\r\n";
constexpr std::string_view one = ":1\r\n";
constexpr std::string_view none = "*0\r\n";
constexpr std::string_view time_told = "*2\r\n$10\r\n1700000000\r\n$1\r\n7\r\n";

/// The result of the check for these replies.
/// @param load To each script.
/// @param more The further replies.
std::string found(std::string_view said_hello, std::string_view load,
                  std::initializer_list<std::string_view> more, readiness_check& check)
{
    std::vector<std::string_view> answers{said_hello};
    answers.resize(1 + redisson_script_set().all.size(), load);
    answers.insert(answers.end(), more);

    namespace redis = boost::redis;
    redis::any_adapter adapter = check.adapter();
    for (const std::string_view each : answers) {
        redis::resp3::parser parser;
        error_code failed;
        BOOST_TEST(redis::resp3::parse(parser, each, adapter, failed));
        BOOST_TEST(!failed);
    }
    const auto result = check.result();
    return result.code ? result.code.message() + ": " + std::string(result.text) : "ready";
}

std::string found(std::string_view said_hello, std::string_view load, std::string_view text,
                  std::string_view hash)
{
    readiness_check check(redisson_script_set());
    return found(said_hello, load, {text, hash, time_told}, check);
}

bool says(const std::string& text, errc code, std::string_view words)
{
    return text == error_code(code).message() + ": " + std::string(words);
}

} // namespace

BOOST_AUTO_TEST_CASE(serving_server_is_ready_and_reports_its_time)
{
    readiness_check check(redisson_script_set());
    BOOST_TEST(found(hello, loaded, {one, none, time_told}, check) == "ready");
    BOOST_TEST((check.server_us() == 1'700'000'000'000'007));
}

// A limit based on an invalid time would reject every late request, or none.
BOOST_AUTO_TEST_CASE(invalid_server_time_is_ignored)
{
    for (const std::string_view said :
         {"*2\r\n:1700000000\r\n:1000000\r\n", "*2\r\n:1700000000\r\n:-1\r\n",
          "*2\r\n:-1\r\n:7\r\n", "*2\r\n:0\r\n:0\r\n", "*2\r\n:9007199255\r\n:0\r\n",
          "*2\r\n:9223372036854775807\r\n:0\r\n", "*1\r\n:1700000000\r\n",
          "*3\r\n:1700000000\r\n:7\r\n:7\r\n", ":1700000000\r\n", "-NOPERM time\r\n"}) {
        readiness_check check(redisson_script_set());
        BOOST_TEST(found(hello, loaded, {one, none, said}, check) == "ready");
        BOOST_TEST(!check.server_us(), said);
    }
    readiness_check latest(redisson_script_set());
    found(hello, loaded, {one, none, "*2\r\n:1700000000\r\n:999999\r\n"}, latest);
    BOOST_TEST((latest.server_us() == 1'700'000'000'999'999));
}

BOOST_AUTO_TEST_CASE(surplus_replies_of_a_readiness_check_are_ignored)
{
    readiness_check check(redisson_script_set());
    BOOST_TEST(found(hello, loaded, {one, none, time_told, "-LOADING x\r\n"}, check) == "ready");
    BOOST_TEST((check.server_us() == 1'700'000'000'000'007));
}

// Only a certain failure prevents a connection. The requests themselves report other failures.
BOOST_AUTO_TEST_CASE(uncertain_failure_does_not_prevent_readiness)
{
    constexpr std::string_view noperm =
        "-NOPERM User u has no permissions to run the 'x' command\r\n";
    constexpr std::string_view noscript = "-NOSCRIPT No matching script.\r\n";
    BOOST_TEST(found(hello, noperm, one, none) == "ready");    // SCRIPT LOAD
    BOOST_TEST(found(hello, loaded, noperm, none) == "ready"); // EVAL
    BOOST_TEST(found(hello, noperm, one, noscript) == "ready");
    BOOST_TEST(found(hello, loaded, "-OOM x\r\n", none) == "ready");
    BOOST_TEST(found(hello, loaded, "-READONLY x\r\n", none) == "ready");
    BOOST_TEST(found("-ERR unknown command 'HELLO'\r\n", loaded, one, none) == "ready");
    BOOST_TEST(found("*0\r\n", loaded, one, none) == "ready");
}

BOOST_AUTO_TEST_CASE(permanent_failure_prevents_readiness)
{
    BOOST_TEST(says(found(hello, loaded, "-NOPERM HSET, which locks need: x\r\n", none),
                    errc::permission_denied, "NOPERM HSET, which locks need: x"));
    BOOST_TEST(
        says(found(hello, loaded, "-ERR unknown command TIME, which locks need: x\r\n", none),
             errc::not_supported, "ERR unknown command TIME, which locks need: x"));
    BOOST_TEST(says(found(hello, loaded, one, "-NOPERM evalsha\r\n"), errc::permission_denied,
                    "NOPERM evalsha"));
    BOOST_TEST(says(found(hello, loaded, one, "-ERR unknown command 'EVALSHA'\r\n"),
                    errc::not_supported, "ERR unknown command 'EVALSHA'"));
    BOOST_TEST(says(found(hello, "-NOPERM script\r\n", "-NOPERM eval\r\n", "-NOSCRIPT x\r\n"),
                    errc::permission_denied, "NOPERM eval"));
}

BOOST_AUTO_TEST_CASE(cluster_node_or_sentinel_is_not_supported)
{
    for (const char* cluster : {"%1\r\n$4\r\nmode\r\n$7\r\ncluster\r\n",
                                "*4\r\n$2\r\nid\r\n:7\r\n$4\r\nmode\r\n$7\r\ncluster\r\n"})
        BOOST_TEST(found(cluster, loaded, one, none)
                       .starts_with(error_code(errc::not_supported).message() +
                                    ": the server is part of a Redis Cluster"));
    BOOST_TEST(
        found("%1\r\n$4\r\nmode\r\n$8\r\nsentinel\r\n", loaded, one, none)
            .starts_with(error_code(errc::not_supported).message() + ": the server is a Sentinel"));
}

BOOST_AUTO_TEST_CASE(loading_or_busy_server_is_store_refused)
{
    BOOST_TEST(says(found("-LOADING x\r\n", "-LOADING x\r\n", "-LOADING x\r\n", "-LOADING x\r\n"),
                    errc::store_refused, "LOADING x"));
    BOOST_TEST(says(found(hello, loaded, "-BUSY x\r\n", none), errc::store_refused, "BUSY x"));
}

BOOST_AUTO_TEST_SUITE_END()
