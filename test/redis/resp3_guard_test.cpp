// Which bytes the guard before the parser of Boost.Redis passes, and which it stops.
#include <boost/test/unit_test.hpp>

#include "redis/connection/dialer.hpp"
#include "redis/connection/guarded_stream.hpp"
#include "redis/connection/resp3_guard.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/write.hpp>
#include <boost/redis/config.hpp>
#include <boost/redis/error.hpp>
#include <boost/redis/logger.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using boost::redis::error;
using redis_store::resp3_guard;
using namespace std::string_literals;

struct verdict
{
    std::size_t accepted = 0;
    error_code why;

    friend bool operator==(const verdict&, const verdict&) = default;
    friend std::ostream& operator<<(std::ostream& to, const verdict& v)
    {
        return to << v.accepted << " bytes, " << v.why.message();
    }
};

/// The result for these bytes in pieces of these sizes, the last of which repeats.
verdict judge(std::string_view bytes, const std::vector<std::size_t>& sizes)
{
    resp3_guard guard;
    verdict result;
    for (std::size_t i = 0; result.accepted < bytes.size(); ++i) {
        const std::string_view piece = bytes.substr(result.accepted,
                                                    sizes[std::min(i, sizes.size() - 1)]);
        const std::size_t taken = guard.accept(piece);
        result.accepted += taken;
        BOOST_TEST(static_cast<bool>(guard.violation()) == (taken < piece.size()));
        if (taken < piece.size())
            break;
    }
    result.why = guard.violation();
    return result;
}

void check(std::string_view bytes, const verdict& wanted)
{
    BOOST_TEST_CONTEXT(bytes.substr(0, 80))
    {
        BOOST_TEST(judge(bytes, {bytes.size()}) == wanted);
        BOOST_TEST(judge(bytes, {1}) == wanted);
        for (std::size_t split = 1; split < std::min<std::size_t>(bytes.size(), 200); ++split)
            BOOST_TEST(judge(bytes, {split, bytes.size()}) == wanted);
    }
}

void passes(std::string_view bytes)
{
    check(bytes, {bytes.size(), {}});
}

/// The guard passes the bytes of `seen` and stops at the next one.
void stops(std::string_view seen, std::string_view rest, error why)
{
    check(std::string(seen).append(rest), {seen.size(), why});
    const std::string behind_a_reply = "*2\r\n:1\r\n$2\r\n\r\n\r\n";
    check(behind_a_reply + std::string(seen).append(rest),
          {behind_a_reply.size() + seen.size(), why});
    const std::string within_a_push = ">2\r\n$7\r\nmessage\r\n";
    check(within_a_push + std::string(seen).append(rest),
          {within_a_push.size() + seen.size(), why});
}

std::string repeat(std::string_view text, std::size_t times)
{
    std::string all;
    for (std::size_t i = 0; i < times; ++i)
        all += text;
    return all;
}

} // namespace

BOOST_AUTO_TEST_SUITE(valid_protocol)

BOOST_AUTO_TEST_CASE(every_resp3_type_passes)
{
    for (const std::string& each : {"+OK\r\n"s,
                                    "+\r\n"s,
                                    "-ERR unknown command\r\n"s,
                                    "-\r\n"s,
                                    ":0\r\n"s,
                                    ":-1\r\n"s,
                                    ",3.14\r\n"s,
                                    ",-inf\r\n"s,
                                    ",nan\r\n"s,
                                    "#t\r\n"s,
                                    "#f\r\n"s,
                                    "_\r\n"s,
                                    "(3492890328409238509324850943850943825024385\r\n"s,
                                    "$5\r\nhello\r\n"s,
                                    "$0\r\n\r\n"s,
                                    "$11\r\n1234567890\0\r\n"s,
                                    "!10\r\nSYNTAX bad\r\n"s,
                                    "=15\r\ntxt:Some string\r\n"s,
                                    "*0\r\n"s,
                                    "%0\r\n"s,
                                    "~0\r\n"s,
                                    ">0\r\n"s,
                                    "|0\r\n"s,
                                    "*2\r\n:1\r\n:2\r\n"s,
                                    "%2\r\n+a\r\n:1\r\n+b\r\n:2\r\n"s,
                                    "~1\r\n$1\r\nx\r\n"s,
                                    ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$0\r\n\r\n"s,
                                    "|1\r\n+ttl\r\n:3600\r\n*1\r\n:5\r\n"s,
                                    "*2\r\n*1\r\n_\r\n%1\r\n+k\r\n~2\r\n#t\r\n#f\r\n"s})
        passes(each);
}

BOOST_AUTO_TEST_CASE(protocol_bytes_within_a_text_pass)
{
    passes("$9\r\n$\r\n;0\r\n\r\n\r\n+OK\r\n");
    passes("+a\rb\nc\r\rd\n\r\n:1\r\n");
    passes("-ERR $?\r\n");
}

BOOST_AUTO_TEST_CASE(null_of_resp2_passes)
{
    passes("$-1\r\n*-1\r\n*2\r\n$-1\r\n*-1\r\n:1\r\n");
}

BOOST_AUTO_TEST_CASE(maximum_nesting_of_the_parser_passes)
{
    passes(repeat("*1\r\n", resp3_guard::max_depth) + ":1\r\n");
    passes(repeat("*2\r\n:1\r\n", resp3_guard::max_depth) + "*0\r\n");
    // Closed levels do not count.
    passes(repeat("*1\r\n*1\r\n*1\r\n+x\r\n", 10));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(invalid_protocol)

BOOST_AUTO_TEST_CASE(missing_length_is_a_violation)
{
    for (const char* type : {"$", "!", "=", "*", "%", "~", ">", "|"})
        stops(type, "\r\n", error::empty_field);
    stops("$-", "\r\n", error::empty_field);
}

BOOST_AUTO_TEST_CASE(invalid_length_is_a_violation)
{
    stops("$", "abc\r\n", error::not_a_number);
    stops("$3", "abc\r\nfoo\r\n", error::not_a_number);
    stops("*", "+1\r\n:1\r\n", error::not_a_number);
    stops("$", " 1\r\nx\r\n", error::not_a_number);
    stops("$1", " \r\nx\r\n", error::not_a_number);
    stops("$1", "\nx\r\n", error::not_a_number);
    stops("$1\r", "x\r\n", error::not_a_number);
    stops("$1\r", "\r\n", error::not_a_number);
    stops("$", "\0\r\n"s, error::not_a_number);
}

BOOST_AUTO_TEST_CASE(negative_length_is_a_violation)
{
    stops("$-2", "\r\n", error::not_a_number);
    stops("$-0", "\r\n", error::not_a_number);
    stops("$-11", "\r\n", error::not_a_number);
    stops("$-", "-1\r\n", error::not_a_number);
    stops("$1", "-1\r\n", error::not_a_number);
    for (const char* type : {"!", "=", "%", "~", ">", "|"})
        stops(type, "-1\r\n", error::not_a_number);
}

BOOST_AUTO_TEST_CASE(overflowing_length_is_a_violation)
{
    stops("$184467", "44073709551615\r\n+OK\r\n", error::exceeds_maximum_read_buffer_size);
    stops("$184467", "44073709551614\r\n+OK\r\n", error::exceeds_maximum_read_buffer_size);
    stops("*184467", "44073709551616\r\n", error::exceeds_maximum_read_buffer_size);
    stops("%922337", "2036854775809\r\n+k\r\n+v\r\n", error::exceeds_maximum_read_buffer_size);
    stops("$000184467", "44073709551615\r\n", error::exceeds_maximum_read_buffer_size);
}

BOOST_AUTO_TEST_CASE(streamed_string_is_a_violation)
{
    for (const char* type : {"$", "!", "=", "*"})
        stops(type, "?\r\n;5\r\nhello\r\n;0\r\n", error::not_a_number);
    stops("", ";0\r\n", error::invalid_data_type);
    stops("", ";5\r\nhello\r\n", error::invalid_data_type);
    stops("", ".\r\n", error::invalid_data_type);
    stops("$", repeat("?\r\n$", 20), error::not_a_number);
}

BOOST_AUTO_TEST_CASE(unknown_type_is_a_violation)
{
    for (int c = 0; c < 256; ++c) {
        const char type = static_cast<char>(c);
        if ("+-:,#(_$!=*%~>|"s.find(type) == std::string::npos)
            stops("", std::string(1, type) + "1\r\n", error::invalid_data_type);
    }
    stops("", "\r\n", error::invalid_data_type);
}

BOOST_AUTO_TEST_CASE(text_longer_than_its_length_is_a_violation)
{
    stops("$3\r\nfoo", "o\r\n", error::incompatible_size);
    stops("$3\r\nfoo\r", "\r\n", error::incompatible_size);
    stops("$0\r\n", "x\r\n", error::incompatible_size);
    stops("=3\r\nfoo", "\n", error::incompatible_size);
}

BOOST_AUTO_TEST_CASE(nesting_beyond_the_parser_is_a_violation)
{
    const std::string most = repeat("*1\r\n", resp3_guard::max_depth);
    for (const char* type : {"*", "%", "~", ">", "|"}) {
        const std::string seen = most + type + "1\r";
        check(seen + "\n+k\r\n+v\r\n", {seen.size(), error::exceeeds_max_nested_depth});
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(sizes)

namespace {

constexpr std::size_t limit = 100;

/// As above, with a guard for small replies.
verdict judge_small(std::string_view bytes, std::size_t piece)
{
    resp3_guard guard(limit);
    verdict result;
    while (result.accepted < bytes.size() && !guard.violation())
        result.accepted += guard.accept(bytes.substr(result.accepted, piece));
    result.why = guard.violation();
    return result;
}

void check_small(const std::string& bytes, const verdict& wanted)
{
    for (const std::size_t piece : {std::size_t(1), std::size_t(7), bytes.size()})
        BOOST_TEST(judge_small(bytes, piece) == wanted);
}

const error too_large = error::exceeds_maximum_read_buffer_size;

} // namespace

BOOST_AUTO_TEST_CASE(line_passes_up_to_the_limit)
{
    const std::string fits = '+' + std::string(limit - 3, 'x') + "\r\n";
    check_small(fits, {limit, {}});
    check_small(fits + fits + fits, {3 * limit, {}});
    check_small('+' + std::string(limit - 2, 'x') + "\r\n", {limit, too_large});
    check_small('+' + std::string(10 * limit, 'x'), {limit, too_large});
}

BOOST_AUTO_TEST_CASE(text_passes_up_to_the_limit)
{
    const std::string fits = "$93\r\n" + std::string(93, 'x') + "\r\n";
    check_small(fits, {limit, {}});
    check_small(fits + fits, {2 * limit, {}});
    check_small("$94\r\n" + std::string(94, 'x') + "\r\n", {4, too_large});
    check_small("$101\r\n", {3, too_large});
}

// With any last digit, and in any pieces.
BOOST_AUTO_TEST_CASE(length_above_the_limit_is_too_large)
{
    for (const char type : {'$', '!', '=', '*', '%', '~', '>', '|'}) {
        for (std::size_t length = limit + 1; length < 10 * limit + 10; ++length) {
            const std::string digits = std::to_string(length);
            const std::string text = type + digits + "\r\n";
            BOOST_TEST_CONTEXT(type << digits)
            {
                // The digit that makes the number too large is not passed.
                check_small(text, {digits.size(), too_large});
                check_small(type + ("00" + digits) + "\r\n", {digits.size() + 2, too_large});
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(array_passes_up_to_the_limit)
{
    const std::string fits = "*31\r\n" + repeat("_\r\n", 31);
    check_small(fits + fits, {2 * fits.size(), {}});
    check_small("*32\r\n" + repeat("_\r\n", 32), {4, too_large});
    check_small("%16\r\n" + repeat("_\r\n", 32), {4, too_large});
    check_small("%15\r\n" + repeat("_\r\n", 30), {95, {}});
}

BOOST_AUTO_TEST_CASE(elements_of_a_reply_share_the_limit)
{
    const std::string begin = "*2\r\n$40\r\n" + std::string(40, 'x') + "\r\n";
    check_small(begin + "$38\r\n" + std::string(38, 'x') + "\r\n", {96, {}});
    check_small(begin + "$43\r\n" + std::string(43, 'x') + "\r\n", {begin.size() + 4, too_large});
    check_small(begin + '+' + std::string(60, 'x') + "\r\n", {limit, too_large});
}

BOOST_AUTO_TEST_CASE(default_limit_is_far_above_any_reply_of_the_library)
{
    constexpr std::size_t most = resp3_guard::default_limit;
    const std::string size = std::to_string(most - 12);
    passes('$' + size + "\r\n" + std::string(most - 12, 'x') + "\r\n");
    const std::string larger = '$' + std::to_string(most - 11) + '\r';
    check(larger + '\n', {larger.size(), too_large});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(nothing_passes_after_a_violation_until_the_reset)
{
    resp3_guard guard;
    BOOST_TEST(guard.accept("*2\r\n:1\r\n;") == 8u);
    BOOST_TEST((guard.violation() == error::invalid_data_type));
    BOOST_TEST(guard.accept("+OK\r\n") == 0u);
    guard.reset();
    BOOST_TEST(!guard.violation());
    // No state of the old connection is left: neither the array nor the line.
    BOOST_TEST(guard.accept("+OK\r\n:1\r\n") == 9u);
    BOOST_TEST(guard.accept("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n") == 24u);
    BOOST_TEST(guard.accept("$5\r\nhe") == 6u);
    guard.reset();
    BOOST_TEST(guard.accept("+OK\r\n") == 5u);
}

namespace {

using tcp = boost::asio::ip::tcp;

/// A guarded stream, and its server, which the test simulates.
struct guarded_stream_fixture
{
    using executor = redis_store::guarded_executor<boost::asio::any_io_executor>;
    using stream = boost::redis::detail::redis_stream<executor>;
    using read = std::pair<error_code, std::string>;

    /// Makes a connection, or the next one.
    void connect()
    {
        constexpr auto limit = std::chrono::seconds(10);
        const boost::redis::address where{"127.0.0.1",
                                          std::to_string(listening.local_endpoint().port())};
        std::optional<error_code> connected;
        reader.async_connect({{where, false}, limit, limit, limit}, log,
                             [&](error_code code) { connected = code; });
        run_until(context, [&] { return connected.has_value(); });
        BOOST_TEST_REQUIRE(!*connected);
        server = listening.accept();
    }

    void say(std::string_view text) { boost::asio::write(server, boost::asio::buffer(text)); }

    /// The bytes that the parser gets.
    read see()
    {
        std::array<char, 100> bytes;
        std::optional<read> result;
        reader.async_read_some(boost::asio::buffer(bytes), [&](error_code code, std::size_t size) {
            result.emplace(code, std::string(bytes.data(), size));
        });
        run_until(context, [&] { return result.has_value(); });
        return *result;
    }

    boost::asio::io_context context;
    tcp::acceptor listening{context, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)};
    tcp::socket server{context};
    boost::redis::detail::buffered_logger log;
    redis_store::dialer dials{redis_config()};
    stream reader{executor(context.get_executor(), dials),
                  boost::asio::ssl::context(boost::asio::ssl::context::tls_client)};
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(guarded_stream, guarded_stream_fixture)

// The same bytes have the same effect in any pieces.
BOOST_AUTO_TEST_CASE(bytes_before_a_violation_are_read_before_the_error)
{
    connect();
    say("+OK\r\n:1\r\n;0\r\n");
    BOOST_TEST((see() == read({}, "+OK\r\n:1\r\n")));
    // At once, whether or not the server sends more.
    for (int i = 0; i < 3; ++i)
        BOOST_TEST((see() == read(error::invalid_data_type, "")));
}

BOOST_AUTO_TEST_CASE(violation_at_the_start_is_an_error_at_once)
{
    connect();
    say(";0\r\n+OK\r\n");
    BOOST_TEST((see() == read(error::invalid_data_type, "")));
    BOOST_TEST((see() == read(error::invalid_data_type, "")));
}

BOOST_AUTO_TEST_CASE(error_of_the_connection_is_forwarded)
{
    connect();
    server.close();
    BOOST_TEST((see() == read(boost::asio::error::eof, "")));
}

// Only the bytes of a connection count. A violation or a truncated reply of the earlier connection
// does not.
BOOST_AUTO_TEST_CASE(new_connection_is_guarded_without_earlier_state)
{
    for (const char* before :
         {";0\r\n", "*2\r\n:1\r\n", "$5\r\nhe", "$1", "+O", "*1\r\n*1\r\n*1\r\n"}) {
        BOOST_TEST_CONTEXT(before)
        {
            connect();
            say(before);
            see();
            connect();
            const std::string deep = repeat("*1\r\n", resp3_guard::max_depth) + ":1\r\n";
            say(deep);
            BOOST_TEST((see() == read({}, deep)));
            say(";0\r\n");
            BOOST_TEST((see() == read(error::invalid_data_type, "")));
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

// All kinds of replies of a server, from a real one.
BOOST_AUTO_TEST_CASE(replies_of_a_real_server_pass)
{
    const redis_server server({"--enable-debug-command", "yes"});
    boost::asio::io_context context;
    boost::asio::generic::stream_protocol::socket socket(context);
    socket.connect(server.endpoint());

    std::string asked = make_request({"HELLO", "3"});
    for (const std::vector<std::string>& each : std::vector<std::vector<std::string>>{
             {"SET", "text", std::string("two\r\nlines\0", 11)},
             {"GET", "text"},
             {"GET", "nothing"},
             {"SET", "large", std::string(200'000, 'x')},
             {"GET", "large"},
             {"HSET", "hash", "a", "1", "b", "2"},
             {"HGETALL", "hash"},
             {"HGET", "text", "field"},
             {"SADD", "set", "a", "b", "c"},
             {"SMEMBERS", "set"},
             {"ZADD", "sorted", "1.5", "a", "inf", "b"},
             {"ZRANGE", "sorted", "0", "-1", "WITHSCORES"},
             {"ZSCORE", "sorted", "a"},
             {"XADD", "stream", "1-1", "field", "value"},
             {"XRANGE", "stream", "-", "+"},
             {"XREAD", "STREAMS", "stream", "0"},
             {"XINFO", "STREAM", "stream"},
             {"GEOADD", "places", "13.361389", "38.115556", "Palermo"},
             {"GEOPOS", "places", "Palermo", "nowhere"},
             {"INFO", "everything"},
             {"CONFIG", "GET", "*"},
             {"CLIENT", "LIST"},
             {"CLIENT", "TRACKING", "ON", "BCAST"},
             {"SET", "text", "changed"},
             {"MEMORY", "STATS"},
             {"COMMAND", "GETKEYS", "MSET", "a", "1", "b", "2"},
             {"ROLE"},
             {"TIME"},
             {"NOSUCH", "COMMAND"},
             {"EVAL", "return {1, 'two', {3, {4}}, false}", "0"},
             {"EVAL", "return redis.error_reply('MINE it is')", "0"},
             {"EVAL", "redis.setresp(3); return redis.call('HGETALL', KEYS[1])", "1", "hash"},
             {"EVAL", "return {double = 3.5}", "0"},
             {"EVALSHA", std::string(40, '0'), "0"},
             {"SCRIPT", "LOAD", "return 1"},
             {"MULTI"},
             {"GET", "text"},
             {"NOSUCH"},
             {"EXEC"},
             {"SUBSCRIBE", "one", "two"},
             {"PUBLISH", "one", "said"},
             {"UNSUBSCRIBE"},
             {"PSUBSCRIBE", "o*"},
             {"PUBLISH", "other", ""},
             {"DEBUG", "PROTOCOL", "string"},
             {"DEBUG", "PROTOCOL", "integer"},
             {"DEBUG", "PROTOCOL", "double"},
             {"DEBUG", "PROTOCOL", "null"},
             {"DEBUG", "PROTOCOL", "array"},
             {"DEBUG", "PROTOCOL", "set"},
             {"DEBUG", "PROTOCOL", "map"},
             {"DEBUG", "PROTOCOL", "attrib"},
             {"DEBUG", "PROTOCOL", "push"},
             {"DEBUG", "PROTOCOL", "bignum"},
             {"DEBUG", "PROTOCOL", "verbatim"},
             {"DEBUG", "PROTOCOL", "true"},
             {"DEBUG", "PROTOCOL", "false"},
             {"RESET"},
             {"GET", "nothing"}, // RESP2 from here on
             {"HGETALL", "hash"},
             {"XREAD", "STREAMS", "nothing", "0"},
             {"ECHO", "this is the end"}})
        asked += make_request(each);
    boost::asio::write(socket, boost::asio::buffer(asked));
    std::string said;
    boost::asio::read_until(socket, boost::asio::dynamic_buffer(said),
                            "$15\r\nthis is the end\r\n");
    for (const char* type : {"$", "\r\n=", "*", "%", "~", ">", "\r\n|", "+", "-", ":", "\r\n,",
                             "\r\n#", "\r\n(", "\r\n_"})
        BOOST_TEST(said.find(type) != std::string::npos, type << " is not among the answers");
    passes(said);
    for (const std::size_t size : {2u, 3u, 5u, 4096u})
        BOOST_TEST((judge(said, {size}) == verdict{said.size(), {}}));
}
