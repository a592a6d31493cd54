// The pipeline when an allocation fails outside the client's turn: while replies are delivered, and
// while their results are written. In each case, a sent batch has as many commands as callers that
// wait for a reply, and each caller gets one reply.
#include <boost/test/unit_test.hpp>

#include "redis/commands/native_commands.hpp"
#include "redis/commands/redisson_commands.hpp"
#include "redis/kept_transport.hpp"
#include "redis/pipeline/pipeline.hpp"
#include "redis/resp_text.hpp"
#include "support/counting_listener.hpp"
#include "support/failing_memory.hpp"
#include "support/manual_time.hpp"
#include "support/moved_time.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/redis/resp3/parser.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::redis_store;
using test::commands_in;
using test::failing_memory;
using test::kept_transport;
using test::numbers;
using namespace std::chrono_literals;

constexpr std::size_t most_allocations = 2000; ///< More allocations mean a loop.

/// A server without the scripts. It rejects some requests for that reason and serves the others.
struct scene
{
    explicit scene(std::unique_ptr<command_set> keys = std::make_unique<redisson_commands>(24h))
        : made(std::make_shared<pipeline>(way, std::move(keys), time.make_source(), 5s))
    {
        made->open(strand, detail::context_poster::make(strand), ears);
        way->observer->on_up(std::nullopt);
        poll();
    }

    ~scene()
    {
        made->close();
        poll();
    }

    void poll() { test::run_due(context, time); }

    /// Catches exceptions that leave the context's run, because a program may continue.
    void poll_on()
    {
        for (bool whole = false; !whole;) {
            try {
                poll();
                whole = true;
            }
            catch (const std::bad_alloc&) {
                ++thrown;
            }
        }
    }

    void acquire(std::string_view name)
    {
        const std::size_t place = heard.size();
        heard.push_back(0);
        codes.emplace_back();
        made->acquire(
            {.name = name, .owner = "a:1", .entry = {}, .lease = 10s, .fences = 1, .budget = 10s},
            [this, place](error_code failed, const acquire_reply&) {
                ++heard[place];
                codes[place] = failed;
            });
    }

    void release(std::string_view name)
    {
        const std::size_t place = heard.size();
        heard.push_back(0);
        codes.emplace_back();
        try {
            made->release({.name = name, .owner = "a:1", .entry = {}},
                          [this, place](error_code failed, const release_reply&) {
                              ++heard[place];
                              codes[place] = failed;
                          });
        }
        catch (const std::bad_alloc&) {
            thrown_at.insert(place); // as in each turn that throws, the client ends
        }
    }

    /// Delivers a reply to each command of a batch, and its end.
    void answer(std::size_t index, const std::function<std::string(std::size_t)>& reply)
    {
        const std::shared_ptr<batch> asked = way->sent.at(index);
        boost::redis::any_adapter adapter = asked->adapter();
        for (std::size_t i = 0; i < asked->commands.size(); ++i) {
            boost::redis::resp3::parser parser;
            error_code failed;
            const std::string text = reply(i);
            BOOST_TEST_REQUIRE(boost::redis::resp3::parse(parser, text, adapter, failed));
            BOOST_TEST_REQUIRE(!failed);
        }
    }

    void end(std::size_t index)
    {
        const std::shared_ptr<batch> asked = way->sent.at(index);
        if (const auto owner = asked->owner)
            owner->on_end(asked, {});
    }

    asio::io_context context;
    // Not a strand, because without memory the strand of Asio ends the program.
    asio::any_io_executor strand = context.get_executor();
    test::manual_time time;
    test::counting_listener ears;
    std::shared_ptr<kept_transport> way = std::make_shared<kept_transport>();
    std::shared_ptr<pipeline> made;
    std::vector<int> heard; ///< The number of replies for each caller.
    std::vector<error_code> codes;
    int thrown = 0;
    std::set<std::size_t> thrown_at; ///< The callers whose call has thrown an exception.
    int fence = 2000;                ///< The last one that the server has drawn.
};

std::string granted()
{
    return numbers({1, 7, 1, 1'700'000'000'000'000});
}

std::string refused(std::size_t i)
{
    return i % 2 == 0 ? "-NOSCRIPT No matching script. Please use EVAL.\r\n" : granted();
}

/// Returns false if there are fewer allocations.
bool fail_one(std::size_t index)
{
    scene s;
    s.acquire("first"); // sent alone
    for (const char* const name : {"a", "b", "c", "d", "e"})
        s.acquire(name);
    s.answer(0, [](std::size_t) { return granted(); });
    s.end(0);
    s.poll();
    BOOST_TEST_REQUIRE(s.way->sent.size() == 2u);
    BOOST_TEST_REQUIRE(s.way->sent[1]->commands.size() == 5u);
    s.way->sent.reserve(8);
    s.answer(1, refused);
    bool reached = false;
    {
        const failing_memory here(index);
        try {
            s.poll();
            s.end(1);
            s.poll();
        }
        catch (const std::bad_alloc&) {
            ++s.thrown;
        }
        reached = here.reached();
    }
    // Memory is available again, and more requests follow.
    s.poll_on();
    s.end(1);
    s.poll_on();
    s.acquire("last");
    s.poll_on();
    for (std::size_t i = 2; i < s.way->sent.size(); ++i) {
        const std::shared_ptr<batch> sent = s.way->sent[i];
        BOOST_TEST_REQUIRE(commands_in(sent->request.payload()).size() == sent->commands.size());
        s.answer(i, [](std::size_t) { return granted(); });
        s.end(i);
        s.poll_on();
    }
    for (std::size_t i = 0; i < s.heard.size(); ++i) {
        BOOST_TEST_CONTEXT("who asked as number " << i)
        {
            BOOST_TEST(s.heard[i] == 1);
            // No caller gets a result that is not known.
            BOOST_TEST((!s.codes[i] || s.codes[i] == errc::store_unavailable ||
                        s.codes[i] == errc::outcome_unknown || s.codes[i] == errc::store_refused));
        }
    }
    BOOST_TEST(!s.codes.back(), s.codes.back().message());
    return reached;
}

} // namespace

BOOST_AUTO_TEST_CASE(partly_written_batch_is_not_sent)
{
    std::size_t index = 1;
    for (; index < most_allocations; ++index) {
        BOOST_TEST_CONTEXT("allocation " << index)
        if (!fail_one(index))
            break;
    }
    BOOST_TEST(index > 5);
    BOOST_TEST(index < most_allocations);
}

namespace {

/// The reply of a server on which every third lock of a group has waiters.
std::string served(const std::vector<std::string>& words, int& fence)
{
    if (words.at(0) == "SET")
        return "_\r\n";
    if (words.at(0) == "INCRBY")
        return ":" + std::to_string(++fence) + "\r\n";
    if (words.at(1) == of_native().release.sha)
        return ":1\r\n";
    if (words.at(1) == of_native().leave.sha)
        return numbers({1, 0, 0, 0, 1'700'000'000'000'000});
    BOOST_TEST_REQUIRE(words.at(1) == of_native().release_all.sha);
    std::string text = "*" + words.at(2) + "\r\n";
    for (int i = 0; i < std::stoi(words[2]); ++i)
        text += i % 3 == 1 ? ":0\r\n" : ":1\r\n";
    return text;
}

void serve(scene& s, std::size_t index)
{
    const auto asked = commands_in(s.way->sent.at(index)->request.payload());
    BOOST_TEST_REQUIRE(asked.size() == s.way->sent[index]->commands.size());
    s.answer(index, [&](std::size_t i) { return served(asked[i], s.fence); });
}

/// Returns false if there are fewer allocations.
bool fail_one_of_group(std::size_t index)
{
    scene s(std::make_unique<native_commands>(nullptr, false));
    const std::string unknown = "-ERR unknown command\r\n";
    const std::string greetings[] = {"$4\r\nid=3\r\n", unknown, unknown, numbers({1000})};
    s.answer(0, [&](std::size_t i) { return greetings[i]; });
    s.end(0);
    s.poll();
    s.heard.reserve(16);
    s.codes.reserve(16);
    s.way->sent.reserve(16);
    s.acquire("first"); // sent alone
    bool reached = false;
    {
        const failing_memory here(index);
        try {
            for (const char* const name : {"a", "b", "c", "d"})
                s.release(name);
            s.poll();
        }
        catch (const std::bad_alloc&) {
            ++s.thrown;
        }
        reached = here.reached();
    }
    s.poll_on();
    // The replies, and the slow path of one release.
    std::size_t next = 1;
    for (; next < s.way->sent.size() && !reached; ++next) {
        serve(s, next);
        const failing_memory here(index);
        try {
            s.end(next);
            s.poll();
        }
        catch (const std::bad_alloc&) {
            ++s.thrown;
        }
        reached = reached || here.reached();
    }
    s.poll_on();
    s.acquire("last");
    s.poll_on();
    for (; next < s.way->sent.size(); ++next) {
        serve(s, next);
        s.end(next);
        s.poll_on();
    }
    for (std::size_t i = 0; i < s.heard.size(); ++i) {
        if (s.thrown_at.contains(i))
            continue;
        BOOST_TEST_CONTEXT("caller " << i)
        {
            BOOST_TEST(s.heard[i] == 1);
            BOOST_TEST((!s.codes[i] || s.codes[i] == errc::store_unavailable ||
                        s.codes[i] == errc::outcome_unknown));
        }
    }
    return reached;
}

} // namespace

BOOST_AUTO_TEST_CASE(each_release_of_a_group_completes_without_memory)
{
    std::size_t index = 1;
    for (; index < most_allocations; ++index) {
        BOOST_TEST_CONTEXT("allocation " << index)
        if (!fail_one_of_group(index))
            break;
    }
    BOOST_TEST(index > 5);
    BOOST_TEST(index < most_allocations);
}
