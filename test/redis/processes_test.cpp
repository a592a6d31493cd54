// Many processes with many coroutines each count under one lock. Some of them are killed, or
// stopped and resumed.
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

    /// Stops the process that holds the lock.
    process& stop_the_one_inside()
    {
        for (;;) {
            const auto inside = number("inside");
            const auto found = std::find_if(all.begin(), all.end(),
                                            [&](auto& each) { return each->pid() == inside; });
            if (found == all.end())
                continue;
            (*found)->pause();
            // Whether it still held the lock. Read twice: when the second read is answered, all its
            // earlier requests have been executed.
            if (number("inside") == inside && number("inside") == inside)
                return **found;
            (*found)->resume();
        }
    }

    /// Ends all processes, and returns the total number of writes that they report.
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

BOOST_AUTO_TEST_CASE(processes_count_without_a_lost_update)
{
    counting run(60s);
    wait_until([&] { return run.number("counter") >= 1000; }, patient);
    const auto writes = run.finish();
    BOOST_TEST(writes == run.number("counter"));
    // All processes released their locks in order.
    BOOST_TEST(run.number("overtaken") == 0);
    BOOST_TEST(run.number("refused") == 0);
    BOOST_TEST(run.store.integer({"EXISTS", "inside"}) == 0);
}

BOOST_AUTO_TEST_CASE(killed_holders_do_not_stop_the_others)
{
    counting run(500ms);
    for (int i = 0; i < 3; ++i) {
        run.wait_for_progress();
        process& victim = run.stop_the_one_inside();
        const auto counted = run.number("counter");
        victim.kill();
        run.wait_for_progress(); // the others continue when its lease has expired
        BOOST_TEST(run.number("counter") > counted);
        std::erase_if(run.all, [&](auto& each) { return each.get() == &victim; });
        run.start();
        run.all.back()->expect("holding", patient);
    }
    // The killed processes have written, too, but cannot report their count.
    const auto writes = run.finish();
    BOOST_TEST(writes < run.number("counter"));
    BOOST_TEST(run.number("overtaken") >= 3);
}

BOOST_AUTO_TEST_CASE(stopped_holders_overwrite_nothing_when_resumed)
{
    counting run(500ms);
    for (int i = 0; i < 4; ++i) {
        run.wait_for_progress();
        process& victim = run.stop_the_one_inside();
        run.wait_for_progress(); // the others continue when its lease has expired
        victim.resume();
    }
    run.wait_for_progress();
    // Each acknowledged write is stored once, and no other.
    const auto writes = run.finish();
    BOOST_TEST(writes == run.number("counter"));
    BOOST_TEST(run.number("overtaken") >= 4);
    BOOST_TEST(run.store.integer({"EXISTS", "inside"}) == 0);
}
