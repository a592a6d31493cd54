#ifndef LEASEHOLD_TEST_REDIS_SCRIPT_SCENE_HPP
#define LEASEHOLD_TEST_REDIS_SCRIPT_SCENE_HPP

#include "redis/protocol/script.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"
#include "support/shifted_clock.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace leasehold::test {

/// A clock that is frozen before the server starts.
struct standing_clock : shifted_clock
{
    standing_clock() { freeze_all(); }
};

/// The UUID of a client of this library.
inline std::string client_uuid(char which)
{
    return std::string("000000") + which + which + "-1111-8111-8111-111111111111";
}

/// A subscriber of a channel.
struct listener
{
    listener(const redis_server& server, const std::string& channel) : client(server.connect())
    {
        client.done({"SUBSCRIBE", channel});
    }

    std::string heard() { return client.receive().items.at(2).text; }

    resp_client client;
};

/// A server whose clock the test moves. It runs scripts.
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

    /// The numbers of a reply: of an array, or a single one.
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

    /// Whether the queue contains exactly these owners, in this order, and the hash of waiters no
    /// others.
    bool is_queue(const std::string& queue, const std::string& waiters, const words& owners)
    {
        return client.strings({"LRANGE", queue, "0", "-1"}) == owners &&
               client.integer({"HLEN", waiters}) == static_cast<std::int64_t>(owners.size());
    }

    /// A failed renewal of one lock is reported for that lock alone. Two locks are held, and
    /// `renew` extends them by 5 s: `short` has less left, `long` has more.
    /// @param none The result for a lock that does not exist.
    template <class Renew>
    void check_failing_renewal(std::int64_t none, Renew renew)
    {
        client.done({"ACL", "SETUSER", "default", "-pexpire"});
        const resp_value some = renew(words{"short", "long", "none"});
        BOOST_TEST((numbers_of(some) == numbers{-1, 1, none}), describe(some));
        BOOST_TEST(renew(words{"short"}).is_error());
        BOOST_TEST(renew(words{"short", "short"}).is_error());
    }

    standing_clock clock;
    redis_server server{{}, {.environment = clock.environment()}};
    resp_client client = server.connect();
};

} // namespace leasehold::test

#endif
