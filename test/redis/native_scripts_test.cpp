// The effects of each script of the layout `native` on the keys of a lock.
#include <boost/test/unit_test.hpp>

#include "redis/commands/native_keys.hpp"
#include "redis/protocol/script.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using redis_store::of_native;

const std::string stock = "stock";
const redis_store::native_keys keys;
const std::string fence(keys.fence());
const std::string client = "11111111-1111-1111-1111-111111111111";

/// The value of an owner. The argument is the number of its acquisition.
std::string nth_owner(int number)
{
    return "lh:" + client + ':' + std::to_string(number);
}

/// The name that a function of `native_keys` makes.
template <class Function>
std::string named(Function make, std::string_view of)
{
    std::string made;
    (keys.*make)(of, made);
    return made;
}

struct asked
{
    std::string lease = "60000";
    std::string fences = "1";
    std::string floor = "0";
    bool waits = true;
    std::string grace{}; ///< Empty: no grace.
};

/// Whether a grant has recorded the grace.
bool promises(const std::vector<std::int64_t>& said)
{
    BOOST_TEST(said.at(0) == 1);
    return (said.at(2) & 2) != 0;
}

struct block
{
    std::int64_t last;
    std::int64_t count;
    std::int64_t clock; ///< The clock of the server, in fences.
};

block drawn(const std::vector<std::int64_t>& said)
{
    BOOST_TEST(said.at(0) == 1);
    return {said.at(1), said.at(3), 2 * said.at(4)};
}

struct fixture
{
    std::vector<std::int64_t> run(const redis_store::script& called, std::vector<std::string> words)
    {
        words.insert(words.begin(), {"EVAL", std::string(called.text)});
        std::vector<std::int64_t> numbers;
        for (const std::string& each : store.strings(words))
            numbers.push_back(std::stoll(each));
        return numbers;
    }

    std::vector<std::int64_t> acquire(const std::string& owner, const asked& how = {})
    {
        std::vector<std::string> words{how.grace.empty() ? "4" : "5", stock, fence, line, waiters};
        if (!how.grace.empty())
            words.push_back(record);
        for (const std::string& each : {owner, how.lease, how.fences, std::string("0"), how.floor,
                                        std::string(how.waits ? "10000" : "0"), std::string("1000"),
                                        std::string("0"), std::string("0")})
            words.push_back(each);
        if (!how.grace.empty())
            words.push_back(how.grace);
        return run(of_native().acquire, words);
    }

    std::vector<std::int64_t> leave(const std::string& owner, const std::string& turn = "0")
    {
        return run(of_native().leave, {"5", stock, fence, line, waiters, entries, owner, "", "",
                                       "0", "0", "0", "0", "0", "0", "0", turn});
    }

    /// The next owner gets the lock at once.
    block succeed(const std::string& owner, const std::string& next, const asked& how)
    {
        const auto said = run(of_native().leave,
                              {"5", stock, fence, line, waiters, entries, owner, "", next,
                               how.lease, how.fences, "0", how.floor, "10000", "1000", "0", "0"});
        BOOST_TEST(said.at(0) == 1);
        BOOST_TEST(said.at(1) == 1);
        return {said.at(2), said.at(3), 2 * said.at(4)};
    }

    std::int64_t server_us()
    {
        const std::vector<std::string> time = store.strings({"TIME"});
        return std::stoll(time.at(0)) * 1'000'000 + std::stoll(time.at(1));
    }

    std::string value() { return store.maybe_string({"GET", stock}).value_or(""); }

    redis_server server;
    resp_client store = server.connect();
    const std::string line = named(&redis_store::native_keys::queue, stock);
    const std::string waiters = named(&redis_store::native_keys::waiters, stock);
    const std::string entries = named(&redis_store::native_keys::entries, stock);
    const std::string record = named(&redis_store::native_keys::alive, client);
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(native_scripts_on_keys, fixture)

// The client knows only the last request of an owner, even if the reply to the one before was lost.
BOOST_AUTO_TEST_CASE(repeated_acquire_without_grace_removes_the_grace)
{
    BOOST_TEST(promises(acquire(nth_owner(1), {.grace = "1000"})));
    BOOST_TEST(value() == nth_owner(1) + "|g1000");
    BOOST_TEST(!promises(acquire(nth_owner(1))));
    BOOST_TEST(value() == nth_owner(1));
    BOOST_TEST(promises(acquire(nth_owner(1), {.grace = "2000"})));
    BOOST_TEST(value() == nth_owner(1) + "|g2000");
    BOOST_TEST(promises(acquire(nth_owner(1), {.grace = "500"})));
    BOOST_TEST(value() == nth_owner(1) + "|g500");
    // There is a waiter.
    BOOST_TEST(acquire(nth_owner(2)).at(0) == 3);
    BOOST_TEST(!promises(acquire(nth_owner(1))));
    BOOST_TEST(value() == nth_owner(1) + "|w");
    // However old the last heartbeat is.
    store.done({"PEXPIRE", record, "1000"});
    BOOST_TEST(acquire(nth_owner(2)).at(0) == 0);
    BOOST_TEST(value() == nth_owner(1) + "|w");
}

// A lock that is left free for external clients stays free if a waiter behind the first leaves, or
// a release is repeated. If the first waiter leaves, the next one gets the grant.
BOOST_AUTO_TEST_CASE(external_time_is_ended_only_by_the_first_waiter)
{
    std::int64_t ended = 0;
    std::int64_t left = 0;
    std::string after_others;
    std::string after_first;
    do { // until the machine was fast enough
        store.done({"FLUSHALL"});
        acquire(nth_owner(1));
        for (const int each : {2, 3, 4})
            acquire(nth_owner(each));
        BOOST_TEST(leave(nth_owner(1), "1000").at(0) == 5);
        ended = server_us() + 1'000'000; // a little later
        BOOST_TEST(leave(nth_owner(4)).at(0) == 3);
        BOOST_TEST(leave(nth_owner(4)).at(0) == 0);
        BOOST_TEST(leave(nth_owner(1)).at(0) == 0);
        after_others = value();
        BOOST_TEST(leave(nth_owner(2)).at(0) == 3);
        after_first = value();
        left = ended - server_us();
    } while (left < 500'000);
    BOOST_TEST(after_others == "");
    BOOST_TEST(after_first == nth_owner(3));
}

// A counter that starts at the clock after a loss has no other lower bound.
BOOST_AUTO_TEST_CASE(fence_after_a_lost_counter_exceeds_all_earlier_fences)
{
    // Checks the counter, or also the clock, because the counter may have been set back.
    for (const std::string floor : {"1", "-1"}) {
        store.done({"FLUSHALL"});
        std::int64_t last = 0;
        bool many = false;
        const auto grant = [&](const block& got) {
            BOOST_TEST(got.count >= 1);
            BOOST_TEST(got.count <= 1000);
            BOOST_TEST(got.last - got.count >= last);
            BOOST_TEST((got.count == 1 || got.last <= got.clock));
            many = many || got.count > 1;
            last = got.last;
        };
        for (int i = 0; i < 2'000; ++i)
            grant(drawn(acquire(nth_owner(1), {.fences = "1000", .floor = floor})));
        for (int i = 1; i < 1'000; ++i)
            grant(succeed(nth_owner(i), nth_owner(i + 1), {.fences = "1000", .floor = floor}));
        BOOST_TEST(many);
        store.done({"FLUSHALL"});
        // The floor of a client that has seen no fence.
        BOOST_TEST(run(of_native().raise, {"1", fence, "0"}).at(0) >= last);
        const block next = drawn(acquire(nth_owner(1), {.fences = "1000"}));
        BOOST_TEST(next.last - next.count >= last);
        BOOST_TEST(next.last - next.count + 1 > last);
    }
}

BOOST_AUTO_TEST_CASE(counter_ahead_of_the_clock_yields_one_fence_at_a_time)
{
    const std::int64_t ahead = 2 * (server_us() + 60'000'000);
    for (const std::string floor : {"1", "0", "-1"}) {
        store.done({"SET", fence, std::to_string(ahead)});
        for (int i = 1; i <= 3; ++i) {
            const block got = drawn(acquire(nth_owner(1), {.fences = "1000", .floor = floor}));
            BOOST_TEST(got.count == 1);
            BOOST_TEST(got.last == ahead + i);
        }
        BOOST_TEST(succeed(nth_owner(1), nth_owner(2), {.fences = "1000", .floor = floor}).last ==
                   ahead + 4);
        store.done({"DEL", stock});
    }
}

// A floor above the counter shows that the counter was lost.
BOOST_AUTO_TEST_CASE(counter_that_was_set_back_starts_at_the_clock)
{
    const std::int64_t seen = drawn(acquire(nth_owner(1))).last;
    for (const bool doubts : {false, true}) {
        store.done({"SET", fence, std::to_string(seen - 100'000)});
        const std::int64_t before = 2 * server_us();
        const block got = drawn(acquire(
            nth_owner(1), {.fences = "1000", .floor = (doubts ? "-" : "") + std::to_string(seen)}));
        BOOST_TEST(got.last > before);
        BOOST_TEST(got.count == 1);
    }
}

BOOST_AUTO_TEST_SUITE_END()
