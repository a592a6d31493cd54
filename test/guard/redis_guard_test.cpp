#include <boost/test/unit_test.hpp>

#include "guard/print.hpp"
#include "guard/rising_writers.hpp"
#include "guard/zombie.hpp"
#include "support/completion.hpp"
#include "support/print.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"

#include <leasehold/extras/guard/redis.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/redis/connection.hpp>
#include <boost/redis/logger.hpp>
#include <boost/system/system_error.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace leasehold::test;
namespace asio = boost::asio;
namespace redis = boost::redis;
namespace guard = leasehold::guard;
using guard::errc;
using guard::redis_write;
using leasehold::error_code;

const std::string fence_key = "{stock:7}:fence";
const std::string data_key = "{stock:7}";

/// An application with its own connection, on this thread.
class application
{
public:
    explicit application(const redis_server& server)
    {
        redis::config settings;
        settings.unix_socket = server.socket();
        connection->async_run(settings, [kept = connection](error_code) {});
    }
    ~application()
    {
        connection->cancel();
        context.restart();
        context.run();
    }

    error_code write(const redis_write& write, guard::redis_answer& answer)
    {
        completion<error_code> op(context.get_executor());
        op.start([&](auto handler) {
            guard::async_write(connection, write, answer, std::move(handler));
        });
        run_until(context, [&] { return op.done(); });
        BOOST_TEST(op.proper());
        return op.value<0>();
    }

    error_code write(const redis_write& what)
    {
        guard::redis_answer answer;
        return write(what, answer);
    }

    asio::io_context context{1};
    std::shared_ptr<redis::connection> connection = std::make_shared<redis::connection>(
        context, redis::logger(redis::logger::level::disabled));
};

redis_write set(std::uint64_t fence, const std::string& value)
{
    redis_write result(fence_key, fence);
    result.push("SET", data_key, value);
    return result;
}

struct fixture
{
    std::string get(const std::string& key) { return raw.command({"GET", key}).text; }

    redis_server server;
    resp_client raw = server.connect();
    application app{server};
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(redis_guard, fixture)

BOOST_AUTO_TEST_CASE(writes_of_zombies_are_refused_after_the_holder_wrote)
{
    const zombies all;
    BOOST_TEST(app.write(set(all.holder(), "holder")) == error_code());
    for (const std::uint64_t stale : {all.first(), all.second()}) {
        guard::redis_answer answer;
        BOOST_TEST(app.write(set(stale, "zombie"), answer) == errc::stale_fence);
        BOOST_TEST(answer.newest_fence == all.holder());
    }
    BOOST_TEST(get(data_key) == "holder");
    BOOST_TEST(get(fence_key) == std::to_string(all.holder()));
}

BOOST_AUTO_TEST_CASE(write_of_a_zombie_before_the_holder_is_overwritten)
{
    const zombies all;
    BOOST_TEST(app.write(set(all.second(), "second")) == error_code());
    BOOST_TEST(app.write(set(all.first(), "first")) == errc::stale_fence);
    BOOST_TEST(app.write(set(all.holder(), "holder")) == error_code());
    BOOST_TEST(get(data_key) == "holder");
}

BOOST_AUTO_TEST_CASE(holder_may_write_repeatedly)
{
    BOOST_TEST(app.write(set(7, "one")) == error_code());
    BOOST_TEST(app.write(set(7, "two")) == error_code());
    BOOST_TEST(get(data_key) == "two");
}

BOOST_AUTO_TEST_CASE(all_commands_of_a_write_run_in_one_step)
{
    redis_write write(fence_key, 3);
    write.push("HSET", "{stock:7}:h", "left", 41, "owner", "me")
        .push("INCRBY", "{stock:7}:n", -5)
        .push("DEL", "{stock:7}:gone")
        .push_words("RPUSH", "{stock:7}:l", {"a", "", std::string("b\0c", 3)});
    raw.command({"SET", "{stock:7}:gone", "x"});
    BOOST_TEST(app.write(write) == error_code());
    BOOST_TEST(raw.command({"HGET", "{stock:7}:h", "left"}).text == "41");
    BOOST_TEST(get("{stock:7}:n") == "-5");
    BOOST_TEST(raw.command({"EXISTS", "{stock:7}:gone"}).number == 0);
    BOOST_TEST(raw.command({"LINDEX", "{stock:7}:l", "2"}).text == std::string("b\0c", 3));
}

BOOST_AUTO_TEST_CASE(fences_are_compared_as_whole_numbers_of_64_bits)
{
    // Adjacent numbers that a double cannot distinguish, and texts that sort in another order than
    // numbers.
    BOOST_TEST(app.write(set(9, "nine")) == error_code());
    BOOST_TEST(app.write(set(10, "ten")) == error_code());
    BOOST_TEST(app.write(set(9, "nine")) == errc::stale_fence);
    BOOST_TEST(app.write(set(9'007'199'254'740'993, "large")) == error_code());
    BOOST_TEST(app.write(set(9'007'199'254'740'992, "one less")) == errc::stale_fence);
    BOOST_TEST(app.write(set(guard::largest_fence, "last")) == error_code());
    BOOST_TEST(app.write(set(guard::largest_fence - 1, "one less")) == errc::stale_fence);
    BOOST_TEST(get(data_key) == "last");
    BOOST_TEST(get(fence_key) == "9223372036854775807");
}

BOOST_AUTO_TEST_CASE(invalid_write_is_refused_before_it_is_sent)
{
    for (const std::uint64_t fence :
         {std::uint64_t(0), guard::largest_fence + 1, ~std::uint64_t(0)})
        BOOST_TEST(app.write(set(fence, "x")) == errc::invalid_fence);
    BOOST_TEST(app.write(redis_write(fence_key, 1)) == errc::invalid_write);
    BOOST_TEST(app.write(redis_write(fence_key, 1).push("", data_key)) == errc::invalid_write);
    BOOST_TEST(app.write(redis_write(fence_key, 1).push("DEL", "")) == errc::invalid_write);
    BOOST_TEST(app.write(redis_write("", 1).push("DEL", data_key)) == errc::invalid_write);
    BOOST_TEST(app.write(redis_write(fence_key, 1)
                             .push_words("RPUSH", data_key,
                                         std::vector<std::string>(redis_write::most_words, "x"))) ==
               errc::invalid_write);
    BOOST_TEST(app.write(redis_write("stock:7:fence", 1).push("DEL", "stock:7")) ==
               errc::different_slots);
    BOOST_TEST(app.write(set(1, "x").push("DEL", "{stock:8}")) == errc::different_slots);
    BOOST_TEST(raw.command({"DBSIZE"}).number == 0);
}

BOOST_AUTO_TEST_CASE(longest_allowed_command_runs)
{
    BOOST_TEST(app.write(redis_write(fence_key, 1)
                             .push_words("RPUSH", data_key,
                                         std::vector<std::string>(redis_write::most_words - 1,
                                                                  "x"))) == error_code());
    BOOST_TEST(raw.command({"LLEN", data_key}).number == 3'999);
}

BOOST_AUTO_TEST_CASE(error_of_a_command_is_reported_and_the_fence_stays)
{
    raw.command({"SET", data_key, "a text"});
    redis_write write(fence_key, 5);
    write.push("SET", "{stock:7}:before", "x")
        .push("HSET", data_key, "left", 1)
        .push("SET", "{stock:7}:after", "x");
    guard::redis_answer answer;
    BOOST_TEST(app.write(write, answer) == errc::write_failed);
    BOOST_TEST(answer.text.find("WRONGTYPE") != std::string::npos);
    BOOST_TEST(get("{stock:7}:before") == "x");
    BOOST_TEST(raw.command({"EXISTS", "{stock:7}:after"}).number == 0);
    BOOST_TEST(app.write(set(4, "older")) == errc::stale_fence);
    BOOST_TEST(app.write(set(5, "again")) == error_code());
}

BOOST_AUTO_TEST_CASE(damaged_fence_refuses_every_write)
{
    for (const char* text :
         {"", "0", "-1", "1.5", "twelve", "007", "1e3", "99999999999999999999"}) {
        raw.command({"SET", fence_key, text});
        BOOST_TEST_CONTEXT(text)
        BOOST_TEST(app.write(set(guard::largest_fence, "x")) == errc::damaged_fence);
    }
    raw.command({"DEL", fence_key});
    raw.command({"LPUSH", fence_key, "x"});
    guard::redis_answer answer;
    BOOST_TEST(app.write(set(1, "x"), answer) == leasehold::errc::wrong_type);
    BOOST_TEST(!answer.text.empty());
    BOOST_TEST(raw.command({"EXISTS", data_key}).number == 0);
}

BOOST_AUTO_TEST_CASE(full_server_writes_nothing)
{
    raw.command({"CONFIG", "SET", "maxmemory", "1"});
    BOOST_TEST(app.write(set(1, "x")) == leasehold::errc::store_refused);
    raw.command({"CONFIG", "SET", "maxmemory", "0"});
    BOOST_TEST(raw.command({"DBSIZE"}).number == 0);
    BOOST_TEST(app.write(set(1, "x")) == error_code());
}

BOOST_AUTO_TEST_CASE(write_may_be_cancelled_or_detached)
{
    asio::cancellation_signal signal;
    server.pause();
    error_code ended;
    bool done = false;
    guard::async_write(app.connection, set(1, "x"),
                       asio::bind_cancellation_slot(signal.slot(), [&](error_code failed) {
                           ended = failed;
                           done = true;
                       }));
    app.context.poll();
    signal.emit(asio::cancellation_type::terminal);
    run_until(app.context, [&] { return done; });
    BOOST_TEST(ended == asio::error::operation_aborted);
    server.resume();
    guard::async_write(app.connection, set(2, "x"), asio::detached);
}

BOOST_AUTO_TEST_CASE(stored_fence_never_decreases_with_many_writers)
{
    struct connection
    {
        explicit connection(const redis_server& server)
            : app(std::make_unique<application>(server)),
              raw(std::make_unique<resp_client>(server.endpoint()))
        {}

        bool write(std::uint64_t fence)
        {
            const error_code result = app->write(set(fence, std::to_string(fence)));
            if (result && result != errc::stale_fence)
                throw boost::system::system_error(result);
            return !result;
        }
        std::uint64_t stored() const
        {
            const std::string text = raw->command({"GET", fence_key}).text;
            return text.empty() ? 0 : std::stoull(text);
        }

        std::unique_ptr<application> app;
        std::unique_ptr<resp_client> raw;
    };
    check_rising_writers([this] { return connection(server); }, 4, 2'000);
    BOOST_TEST(get(data_key) == "2000");
}

BOOST_AUTO_TEST_SUITE_END()
