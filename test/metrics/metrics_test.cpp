// The counts, their labels, and the format of the page.
#include <boost/test/unit_test.hpp>

#include "extras/metrics/instruments.hpp"
#include "extras/metrics/label_table.hpp"
#include "extras/metrics/label_value.hpp"
#include "metrics/every_event.hpp"
#include "metrics/open_metrics_checker.hpp"

#include <leasehold/extras/metrics.hpp>

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;

namespace {

double value(const metrics& of, const std::string& sample)
{
    const auto page = read_open_metrics(of.text());
    const auto found = page.samples.find(sample);
    if (found == page.samples.end())
        throw std::runtime_error("no sample " + sample + " in\n" + of.text());
    return found->second;
}

bool has_value(const metrics& of, const std::string& sample)
{
    return read_open_metrics(of.text()).samples.contains(sample);
}

} // namespace

BOOST_AUTO_TEST_SUITE(labels)

BOOST_AUTO_TEST_CASE(lock_name_is_reduced_to_its_family)
{
    BOOST_TEST(lock_family("order:17") == "order");
    BOOST_TEST(lock_family("jobs/daily/1") == "jobs");
    BOOST_TEST(lock_family("stock") == "stock");
    BOOST_TEST(lock_family(":odd") == ":odd");
    BOOST_TEST(lock_family("").empty());
}

BOOST_AUTO_TEST_CASE(label_value_is_short_printable_unicode)
{
    BOOST_TEST(detail::label_value("plain") == "plain");
    BOOST_TEST(detail::label_value("sch\xc3\xb6n \xf0\x9f\x94\x92") ==
               "sch\xc3\xb6n \xf0\x9f\x94\x92");
    BOOST_TEST(detail::label_value(std::string("a\0b\n\x7f\x80z", 7)) == "a?b???z");
    BOOST_TEST(detail::label_value("\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xc2\x85") ==
               "?? ??? ???? ??");
    BOOST_TEST(detail::label_value("\xc3") == "?");
    BOOST_TEST(detail::label_value(std::string(5000, 'x')) == std::string(128, 'x'));
    // The value never ends in half a character.
    BOOST_TEST(detail::label_value(std::string(127, 'x') + "\xc3\xb6") == std::string(127, 'x'));
}

BOOST_AUTO_TEST_CASE(labels_have_no_more_values_than_allowed)
{
    const auto counted = std::make_shared<metrics>(
        metrics_options{.most_locks = 3, .most_holders = 2});
    for (int i = 0; i < 1000; ++i) {
        const std::string name = "name" + std::to_string(i);
        counted->began(name);
        counted->contended(name, "", 1ms);
        counted->contended("name0", std::to_string(i), 1s);
    }
    BOOST_TEST(value(*counted, "leasehold_waiting{lock=\"name0\"}") == 1);
    BOOST_TEST(value(*counted, "leasehold_waiting{lock=\"name2\"}") == 1);
    BOOST_TEST(!has_value(*counted, "leasehold_waiting{lock=\"name3\"}"));
    BOOST_TEST(value(*counted, "leasehold_waiting{lock=\"other\"}") == 997);
    BOOST_TEST(value(*counted, "leasehold_blocked_seconds_total{lock=\"name0\",holder=\"1\"}") ==
               1);
    BOOST_TEST(value(*counted, "leasehold_blocked_seconds_total{lock=\"name0\",holder=\"other\"}") >
               998);
    // A gauge decreases under the same label as it increased.
    counted->not_acquired("name7", errc::timed_out, 1ms, {});
    BOOST_TEST(value(*counted, "leasehold_waiting{lock=\"other\"}") == 996);
}

BOOST_AUTO_TEST_CASE(label_function_of_the_user_may_throw)
{
    const auto counted = std::make_shared<metrics>(
        metrics_options{.label_of = [](std::string_view name) -> std::string {
            if (name == "bad")
                throw std::runtime_error("no label");
            return "all";
        }});
    counted->began("a");
    counted->began("b");
    counted->began("bad");
    BOOST_TEST(value(*counted, "leasehold_waiting{lock=\"all\"}") == 2);
    BOOST_TEST(value(*counted, "leasehold_waiting{lock=\"other\"}") == 1);
}

BOOST_AUTO_TEST_CASE(new_label_value_is_shared_by_all_threads)
{
    constexpr int threads = 4, values = 200, most = 100;
    detail::label_table<detail::shared_counter> table(
        most, [] { return std::make_unique<detail::shared_counter>(); });
    {
        std::vector<std::jthread> all;
        for (int t = 0; t < threads; ++t)
            all.emplace_back([&] {
                for (int i = 0; i < values; ++i)
                    table.at(std::to_string(i)).add();
            });
    }
    std::size_t with_own_label = 0;
    std::uint64_t of_others = 0;
    table.each([&](std::string_view label, const detail::shared_counter& count) {
        if (label == table.other) {
            of_others = count.value();
        }
        else {
            ++with_own_label;
            BOOST_TEST(count.value() == std::uint64_t(threads));
        }
    });
    BOOST_TEST(with_own_label == std::size_t(most));
    BOOST_TEST(of_others == std::uint64_t(threads * (values - most)));
}

BOOST_AUTO_TEST_CASE(options_out_of_range_are_refused)
{
    const auto refused = [](metrics_options options) {
        try {
            const metrics made(std::move(options));
            return false;
        }
        catch (const boost::system::system_error& error) {
            return error.code() == errc::invalid_option;
        }
    };
    BOOST_TEST(refused({.label_of = nullptr}));
    BOOST_TEST(refused({.most_locks = 0}));
    BOOST_TEST(refused({.most_locks = 10'001}));
    BOOST_TEST(refused({.most_holders = 0}));
    BOOST_TEST(refused({.bounds = {}}));
    BOOST_TEST(refused({.bounds = {0ms}}));
    BOOST_TEST(refused({.bounds = {2ms, 1ms}}));
    BOOST_TEST(refused({.bounds = {2ms, 2ms}}));
    BOOST_TEST(refused({.bounds = {-1ns, 1ns}}));
    BOOST_TEST(!refused({.bounds = {1ms, 2ms}}));
    BOOST_TEST(!refused({.bounds = {1ns, 2ns}}));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(page)

BOOST_AUTO_TEST_CASE(every_event_is_counted_once_on_a_valid_page)
{
    metrics counted;
    BOOST_CHECK_NO_THROW(static_cast<void>(read_open_metrics(counted.text())));
    notify_every_event(counted);
    const auto is = [&](const std::string& sample, double expected) {
        BOOST_TEST_CONTEXT(sample)
        BOOST_TEST(value(counted, "leasehold_" + sample) == expected);
    };
    is("waiting{lock=\"order\"}", 0);
    is("held{lock=\"order\"}", 0);
    is("wait_seconds_bucket{lock=\"order\",le=\"0.005\"}", 0);
    is("wait_seconds_bucket{lock=\"order\",le=\"0.01\"}", 1);
    is("wait_seconds_bucket{lock=\"order\",le=\"1.0\"}", 2);
    is("wait_seconds_bucket{lock=\"order\",le=\"+Inf\"}", 2);
    is("wait_seconds_count{lock=\"order\"}", 2);
    is("wait_seconds_sum{lock=\"order\"}", 0.127);
    is("hold_seconds_count{lock=\"order\"}", 2);
    is("hold_seconds_sum{lock=\"order\"}", 3.04);
    is("contended_total{lock=\"order\"}", 2);
    is("handoffs_total{lock=\"order\",to=\"local\"}", 1);
    is("handoffs_total{lock=\"order\",to=\"remote\"}", 1);
    is("blocked_seconds_total{lock=\"order\",holder=\"0a1b2c3d\"}", 0.12);
    is("blocked_seconds_total{lock=\"order\",holder=\"this_client\"}", 0.007);
    is("blocked_seconds_total{lock=\"a \"quoted\" \\ name?\",holder=\"0a1b2c3d\"}", 1);
    is("not_acquired_total{lock=\"a \"quoted\" \\ name?\",reason=\"timed_out\"}", 1);
    is("lost_total{lock=\"order\",reason=\"expired\"}", 1);
    is("lost_total{lock=\"order\",reason=\"lost\"}", 0); // present before it is first counted
    is("renewal_slack_seconds_sum{lock=\"order\"}", 19);
    is("renewals_late_total{lock=\"order\"}", 1);
    is("suspect_expiries_total{lock=\"order\"}", 1);
    is("store_seconds_count{request=\"acquire\"}", 1);
    is("store_seconds_count{request=\"renew\"}", 1);
    is("store_seconds_count{request=\"release\"}", 1);
    is("store_failures_total{request=\"renew\",reason=\"store_refused\"}", 1);
    is("connects_total", 1);
    is("disconnects_total{reason=\"store_unavailable\"}", 1);
}

BOOST_AUTO_TEST_CASE(every_reason_of_a_loss_is_shown_from_zero)
{
    metrics counted;
    counted.began("order");
    for (const char* const reason : {"lost", "expired", "hold_limit", "silent", "shut_down"})
        BOOST_TEST(value(counted, std::string("leasehold_lost_total{lock=\"order\",reason=\"") +
                                      reason + "\"}") == 0);
}

BOOST_AUTO_TEST_CASE(value_equal_to_a_bound_counts_in_the_bucket_of_that_bound)
{
    metrics counted;
    counted.acquired("order", 1, 5ms, false);
    counted.acquired("order", 2, 5ms + 1ns, false);
    BOOST_TEST(value(counted, "leasehold_wait_seconds_bucket{lock=\"order\",le=\"0.005\"}") == 1);
    BOOST_TEST(value(counted, "leasehold_wait_seconds_bucket{lock=\"order\",le=\"0.01\"}") == 2);
}

BOOST_AUTO_TEST_CASE(free_lock_after_a_contended_one_is_not_contended)
{
    metrics counted;
    counted.began("order");
    counted.contended("order", "0a1b2c3d", 1s);
    counted.acquired("order", 1, 1s, false);
    counted.began("order");
    counted.acquired("order", 2, 1s, false);
    BOOST_TEST(value(counted, "leasehold_contended_total{lock=\"order\"}") == 1);
    BOOST_TEST(value(counted, "leasehold_blocked_seconds_total{lock=\"order\","
                              "holder=\"0a1b2c3d\"}") == 1);
    BOOST_TEST(!has_value(counted, "leasehold_blocked_seconds_total{lock=\"order\","
                                   "holder=\"this_client\"}"));
}

BOOST_AUTO_TEST_CASE(every_error_has_a_reason_of_its_own)
{
    detail::reason_counter counted;
    for (int value = 1; value <= static_cast<int>(errc::silent); ++value)
        counted.add(static_cast<errc>(value));
    counted.add(boost::asio::error::operation_aborted);
    counted.add(boost::asio::error::connection_reset);
    counted.add(error_code(1000, lock_category()));
    std::set<std::string_view> reasons;
    counted.each({}, [&](std::string_view reason, std::uint64_t count) {
        BOOST_TEST(reasons.insert(reason).second);
        BOOST_TEST(count == (reason == "other" ? 2u : 1u));
    });
    BOOST_TEST(reasons.size() == static_cast<std::size_t>(errc::silent) + 2);
    BOOST_TEST(reasons.contains("cancelled"));
}

BOOST_AUTO_TEST_CASE(page_may_contain_metrics_of_the_application)
{
    std::string page;
    append_open_metrics(
        page, std::vector<metric_family>{{.name = "queue_seconds",
                                          .type = metric_family::kind::gauge,
                                          .unit = "seconds",
                                          .help = "A \\ and\na line.",
                                          .points = {{.labels = {{"a", "\"\\\n"}}, .value = -0.25},
                                                     {.labels = {}, .value = 1e6}}}});
    BOOST_TEST(page == "# TYPE queue_seconds gauge\n"
                       "# UNIT queue_seconds seconds\n"
                       "# HELP queue_seconds A \\\\ and\\na line.\n"
                       "queue_seconds{a=\"\\\"\\\\\\n\"} -0.25\n"
                       "queue_seconds 1e+06\n");
    append_open_metrics(page, metrics().collect());
    BOOST_CHECK_NO_THROW(static_cast<void>(read_open_metrics(page + "# EOF\n")));
}

BOOST_AUTO_TEST_CASE(checker_refuses_a_page_that_violates_the_format)
{
    const auto refused = [](const std::string& page) {
        try {
            static_cast<void>(read_open_metrics(page));
            return false;
        }
        catch (const std::runtime_error&) {
            return true;
        }
    };
    const std::string c = "# TYPE a counter\n", h = "# TYPE h histogram\n", end = "# EOF\n";
    BOOST_TEST(!refused(c + "a_total 1\n" + end));
    BOOST_TEST(!refused(h + "h_bucket{le=\"+Inf\"} 1\nh_count 1\nh_sum 2\n" + end));
    for (const std::string& each :
         {std::string(), c + "a_total 1\n", c + "a_total 1\n" + end + "\n", c + "a 1\n" + end,
          c + "a_total -1\n" + end, c + "a_total x\n" + end, c + "b_total 1\n" + end,
          c + "a_total 1\na_total 2\n" + end, c + c + end, c + "a_total{b=1} 1\n" + end,
          c + "a_total{b=\"\\x\"} 1\n" + end, c + "a_total{b=\"1\",b=\"2\"} 1\n" + end,
          c + "# UNIT a seconds\n" + end, c + "a_total 1\n# HELP a late\n" + end,
          h + "h_bucket{le=\"1.0\"} 1\nh_count 1\nh_sum 2\n" + end,
          h + "h_bucket{le=\"1.0\"} 2\nh_bucket{le=\"+Inf\"} 1\nh_count 1\nh_sum 2\n" + end,
          h + "h_bucket{le=\"+Inf\"} 1\nh_count 2\nh_sum 2\n" + end,
          h + "h_bucket{le=\"+Inf\"} 1\nh_count 1\n" + end})
        BOOST_TEST(refused(each), each);
}

BOOST_AUTO_TEST_SUITE_END()
