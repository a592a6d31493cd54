// The metrics of real clients have the values that the events of the clients require.
#include <boost/test/unit_test.hpp>

#include "metrics/open_metrics_checker.hpp"
#include "support/memory_lab.hpp"

#include <leasehold/extras/metrics.hpp>

#include <memory>
#include <string>
#include <utility>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;

namespace {

/// The value on the page; -1 if there is none.
double value(const metrics& of, const std::string& sample)
{
    const auto page = read_open_metrics(of.text());
    const auto found = page.samples.find("leasehold_" + sample);
    return found == page.samples.end() ? -1 : found->second;
}

} // namespace

BOOST_AUTO_TEST_CASE(contending_clients_are_counted)
{
    memory_lab lab;
    const auto counted = std::make_shared<metrics>();
    const auto one = lab.make_client(counted), two = lab.make_client(counted);
    // The handoff time is long, so that a busy machine does not prevent a handoff.
    const lock_options patient{.lease_time = 60s, .handoff_time = 20s};
    const mutex first(*one, "stock:1", patient), second(*two, "stock:1", patient);
    lease held = lab.take(first);
    BOOST_TEST(value(*counted, "held{lock=\"stock\"}") == 1);
    locking waiting(lab.context.get_executor());
    waiting.start([&](auto handler) { second.async_lock(std::move(handler)); });
    lab.until([&] { return value(*counted, "store_seconds_count{request=\"acquire\"}") == 2; });
    BOOST_TEST(value(*counted, "waiting{lock=\"stock\"}") == 1);
    BOOST_TEST(!lab.release(std::move(held)));
    lab.until([&] { return waiting.done(); });
    BOOST_TEST(value(*counted, "contended_total{lock=\"stock\"}") == 1);
    BOOST_TEST(value(*counted, "handoffs_total{lock=\"stock\",to=\"remote\"}") == 1);
    BOOST_TEST(
        value(*counted, "blocked_seconds_total{lock=\"stock\",holder=\"" + one->id() + "\"}") >= 0);

    locking next(lab.context.get_executor());
    next.start([&](auto handler) { second.async_lock(std::move(handler)); });
    lab.until([&] { return value(*counted, "waiting{lock=\"stock\"}") == 1; });
    BOOST_TEST(!lab.release(std::move(waiting.value<1>())));
    lab.until([&] { return next.done(); });
    BOOST_TEST(value(*counted, "handoffs_total{lock=\"stock\",to=\"local\"}") == 1);
    BOOST_TEST(!lab.release(std::move(next.value<1>())));
    BOOST_TEST(value(*counted, "held{lock=\"stock\"}") == 0);
    BOOST_TEST(value(*counted, "waiting{lock=\"stock\"}") == 0);
    BOOST_TEST(value(*counted, "hold_seconds_count{lock=\"stock\"}") == 3);
    BOOST_TEST(value(*counted, "store_seconds_count{request=\"acquire\"}") >= 2);
}
