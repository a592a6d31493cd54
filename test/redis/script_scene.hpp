#ifndef LEASEHOLD_TEST_REDIS_SCRIPT_SCENE_HPP
#define LEASEHOLD_TEST_REDIS_SCRIPT_SCENE_HPP

#include "store/redis/protocol/script.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"
#include "support/shifted_clock.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace leasehold::test {

/// Stands still before the server starts.
struct standing_clock : shifted_clock
{
    standing_clock() { freeze_all(); }
};

/// Hears what is published on a channel.
struct listener
{
    listener(const redis_server& server, const std::string& channel) : client(server.connect())
    {
        client.done({"SUBSCRIBE", channel});
    }

    std::string heard() { return client.receive().items.at(2).text; }

    resp_client client;
};

/// A server whose clock the test moves, and what scripts answer there.
struct script_scene
{
    using numbers = std::vector<std::int64_t>;
    using words = resp_client::words;

    resp_value run(const redis_store::script& called, const words& keys, const words& arguments)
    {
        words command{"EVAL", std::string(called.text), std::to_string(keys.size())};
        command.insert(command.end(), keys.begin(), keys.end());
        command.insert(command.end(), arguments.begin(), arguments.end());
        return client.command(command);
    }

    /// The numbers of an answer, of which there may be one alone.
    static numbers numbers_of(const resp_value& said)
    {
        BOOST_TEST_REQUIRE(!said.is_error(), said.text);
        if (said.type == resp_value::kind::integer)
            return {said.number};
        numbers all;
        for (const resp_value& each : said.items)
            all.push_back(each.number);
        return all;
    }
    numbers answer(const redis_store::script& called, const words& keys, const words& arguments)
    {
        return numbers_of(run(called, keys, arguments));
    }

    /// The server's clock, in microseconds.
    std::int64_t now()
    {
        const auto said = client.strings({"TIME"});
        return std::stoll(said.at(0)) * 1'000'000 + std::stoll(said.at(1));
    }

    std::int64_t left(const std::string& key) { return client.integer({"PTTL", key}); }
    bool exists(const std::string& key) { return client.integer({"EXISTS", key}) == 1; }
    std::string value(const std::string& key)
    {
        return client.maybe_string({"GET", key}).value_or("");
    }

    standing_clock clock;
    redis_server server{{}, {.environment = clock.environment()}};
    resp_client client = server.connect();
};

} // namespace leasehold::test

#endif
