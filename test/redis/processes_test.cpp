// Many processes with many coroutines each count under one lock; some of them are killed, or
// stopped and woken.
#include <boost/test/unit_test.hpp>

#include "support/client_thread.hpp"
#include "support/process.hpp"
#include "support/redis_server.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace leasehold::test;
using namespace std::chrono_literals;

constexpr int process_count = 4;
constexpr int coroutines = 8;
constexpr auto patient = 120s;

class counting
{
public:
    explicit counting(std::chrono::milliseconds lease) : lease_(lease)
    {
        for (int i = 0; i < process_count; ++i)
            start();
        for (auto& each : all)
            each->expect("holding", patient);
    }

    void start()
    {
        all.push_back(std::make_unique<process>(
            std::vector<std::string>{LEASEHOLD_TEST_COUNTER, server.unix_url(),
                                     std::to_string(coroutines), std::to_string(lease_.count())}));
    }

    std::int64_t number(const std::string& key)
    {
        const auto text = store.maybe_string({"GET", key});
        return text ? std::stoll(*text) : 0;
    }

    void wait_for_progress(std::int64_t more = 10)
    {
        const auto from = number("counter");
        wait_until([&] { return number("counter") >= from + more; }, patient);
    }

    /// Stops the process that is in, while it is in.
    process& stop_the_one_inside()
    {
        for (;;) {
            const auto inside = number("inside");
            const auto found = std::find_if(all.begin(), all.end(),
                                            [&](auto& each) { return each->pid() == inside; });
            if (found == all.end())
                continue;
            (*found)->pause();
            // Whether it still was. Asked twice: what it had sent before has been executed when the
            // second one is answered.
            if (number("inside") == inside && number("inside") == inside)
                return **found;
            (*found)->resume();
        }
    }

    /// Tells all to end, and returns how often they say they have written.
    std::int64_t finish()
    {
        store.done({"SET", "stop", "1"});
        std::int64_t writes = 0;
        for (auto& each : all) {
            const std::string line = each->read_line(patient).value_or("nothing");
            BOOST_TEST_REQUIRE(line.starts_with("wrote "), line);
            writes += std::stoll(line.substr(6));
            const auto ended = each->wait(patient);
            BOOST_TEST(ended.code == 0);
        }
        for (const std::string& each : store.strings({"LRANGE", "complaints", "0", "10"}))
            BOOST_ERROR(each);
        BOOST_TEST(store.integer({"EXISTS", "counted"}) == 0);
        return writes;
    }

    redis_server server;
    resp_client store = server.connect();
    std::vector<std::unique_ptr<process>> all;

private:
    std::chrono::milliseconds lease_;
};

} // namespace

BOOST_AUTO_TEST_CASE(count_without_losing_one)
{
    counting run(60s);
    wait_until([&] { return run.number("counter") >= 1000; }, patient);
    const auto writes = run.finish();
    BOOST_TEST(writes == run.number("counter"));
    // Everybody left in order.
    BOOST_TEST(run.number("overtaken") == 0);
    BOOST_TEST(run.number("refused") == 0);
    BOOST_TEST(run.store.integer({"EXISTS", "inside"}) == 0);
}

BOOST_AUTO_TEST_CASE(holders_are_killed)
{
    counting run(500ms);
    for (int i = 0; i < 3; ++i) {
        run.wait_for_progress();
        process& victim = run.stop_the_one_inside();
        const auto counted = run.number("counter");
        victim.kill();
        run.wait_for_progress(); // the others go on when its lease has ended
        BOOST_TEST(run.number("counter") > counted);
        std::erase_if(run.all, [&](auto& each) { return each.get() == &victim; });
        run.start();
        run.all.back()->expect("holding", patient);
    }
    // Killed processes have written too, and cannot report how often.
    const auto writes = run.finish();
    BOOST_TEST(writes < run.number("counter"));
    BOOST_TEST(run.number("overtaken") >= 3);
}

BOOST_AUTO_TEST_CASE(holders_are_stopped_and_woken)
{
    counting run(500ms);
    for (int i = 0; i < 4; ++i) {
        run.wait_for_progress();
        process& victim = run.stop_the_one_inside();
        run.wait_for_progress(); // the others go on when its lease has ended
        victim.resume();
    }
    run.wait_for_progress();
    // What was acknowledged is there, once; and nothing else is.
    const auto writes = run.finish();
    BOOST_TEST(writes == run.number("counter"));
    BOOST_TEST(run.number("overtaken") >= 4);
    BOOST_TEST(run.store.integer({"EXISTS", "inside"}) == 0);
}
