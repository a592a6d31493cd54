// The lines of a log, and the limits of their number.
#include <boost/test/unit_test.hpp>

#include "extras/log/line_limit.hpp"
#include "metrics/every_event.hpp"
#include "support/memory_lab.hpp"
#include "support/print.hpp"

#include <leasehold/log_observer.hpp>
#include <leasehold/observer_group.hpp>
#include <leasehold/with_lock.hpp>

#include <boost/asio/append.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;

namespace {

struct lines
{
    std::vector<std::string> all{};
    log_observer log{[this](std::string_view line) { all.emplace_back(line); }};
};

diagnostics held_on(const std::string& server)
{
    diagnostics details;
    details.server = server;
    details.key = "orders";
    details.holder = "0a1b2c3d";
    details.holder_info.program = "billing";
    details.holder_info.host = "web-3";
    details.waited = 900ms;
    return details;
}

/// Counts the events that are no problems.
class problem_counter final : public observer
{
public:
    [[nodiscard]] bool only_problems() const noexcept override { return true; }
    void began(std::string_view) noexcept override { ++others; }
    void acquired(std::string_view, std::uint64_t, duration, bool) noexcept override { ++others; }
    void released(std::string_view, std::uint64_t, duration) noexcept override { ++others; }
    void answered(store_request, duration, error_code) noexcept override { ++others; }
    void unused(std::string_view, std::uint64_t, duration) noexcept override { ++problems; }
    void connected() noexcept override { ++problems; }

    int others = 0;
    int problems = 0;
};

/// Standard error, until the end of its life, is a pipe.
class captured_stderr
{
public:
    captured_stderr() : before_(::dup(STDERR_FILENO))
    {
        BOOST_TEST_REQUIRE(::pipe(ends_) == 0);
        ::dup2(ends_[1], STDERR_FILENO);
    }
    ~captured_stderr()
    {
        end();
        ::close(ends_[0]);
    }
    captured_stderr(const captured_stderr&) = delete;
    captured_stderr& operator=(const captured_stderr&) = delete;

    std::string text()
    {
        end();
        std::string all(65536, '\0');
        all.resize(static_cast<std::size_t>(
            std::max<ssize_t>(::read(ends_[0], all.data(), all.size()), 0)));
        return all;
    }

private:
    void end()
    {
        if (before_ < 0)
            return;
        ::dup2(before_, STDERR_FILENO);
        ::close(before_);
        ::close(ends_[1]);
        before_ = -1;
    }

    int before_;
    int ends_[2]{};
};

} // namespace

BOOST_AUTO_TEST_CASE(line_of_a_long_wait_names_server_holder_and_ttl)
{
    lines to;
    to.log.long_wait("orders", errc::held, 900ms, 28'900ms, held_on("127.0.0.1:6379"));
    BOOST_TEST_REQUIRE(to.all.size() == 1u);
    const std::string& line = to.all[0];
    BOOST_TEST(line == "waiting for lock 'orders' since 900 ms: server 127.0.0.1:6379, held by "
                       "client 0a1b2c3d (billing on web-3): " +
                           make_error_code(errc::held).message() +
                           ", and its lease ends in 28.9 s unless renewed");
}

BOOST_AUTO_TEST_CASE(repeated_cause_is_written_once_and_its_end_follows)
{
    lines to;
    const diagnostics details = held_on("127.0.0.1:6379");
    to.log.long_wait("orders", errc::held, 900ms, 9s, details);
    to.log.long_wait("orders", errc::held, 1800ms, 8s, details);
    BOOST_TEST(to.all.size() == 1u);
    to.log.long_wait_ended("orders", {}, 3200ms);
    BOOST_TEST_REQUIRE(to.all.size() == 2u);
    BOOST_TEST(to.all[1] == "lock 'orders' acquired after 3.2 s");
    // A later wait for the same holder within the minute is silent, and so is its end.
    to.log.long_wait("orders", errc::held, 900ms, 9s, details);
    to.log.long_wait_ended("orders", errc::timed_out, 3s);
    BOOST_TEST(to.all.size() == 2u);
    // Another holder is another cause.
    diagnostics other = details;
    other.holder = "9a1b2c3d";
    to.log.long_wait("orders", errc::held, 900ms, 9s, other);
    to.log.long_wait_ended("orders", errc::timed_out, 3s);
    BOOST_TEST_REQUIRE(to.all.size() == 4u);
    BOOST_TEST(to.all[3] == "the wait for lock 'orders' ended without it after 3.0 s: " +
                                make_error_code(errc::timed_out).message());
}

BOOST_AUTO_TEST_CASE(many_waits_for_one_unreachable_server_are_one_line)
{
    lines to;
    diagnostics details;
    details.server = "127.0.0.1:6379";
    details.connection_error = "Connection refused";
    for (int i = 0; i < 100; ++i)
        to.log.long_wait("lock" + std::to_string(i), errc::store_unavailable, 900ms, 0ms, details);
    BOOST_TEST_REQUIRE(to.all.size() == 1u);
    BOOST_TEST(to.all[0].find("server 127.0.0.1:6379 (Connection refused)") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(lost_connection_is_one_line_and_the_next_connection_another)
{
    lines to;
    to.log.connected();
    BOOST_TEST(to.all.empty());
    diagnostics details;
    details.server = "127.0.0.1:6379";
    details.connection_error = "Connection refused";
    to.log.store_error(errc::store_unavailable, details);
    to.log.disconnected(errc::store_unavailable);
    to.log.disconnected(errc::store_unavailable);
    BOOST_TEST_REQUIRE(to.all.size() == 1u);
    BOOST_TEST(to.all[0] == "server 127.0.0.1:6379 (Connection refused): " +
                                make_error_code(errc::store_unavailable).message());
    to.log.connected();
    BOOST_TEST_REQUIRE(to.all.size() == 2u);
    BOOST_TEST(to.all[1].starts_with("connected to the store again after "));
}

BOOST_AUTO_TEST_CASE(line_of_a_loss_names_fence_hold_time_and_reason)
{
    lines to;
    diagnostics details;
    details.server = "127.0.0.1:6379";
    to.log.lost("orders", 42, 12'340ms, errc::expired, details);
    to.log.lost("orders", 42, 12'340ms, errc::shut_down, details);
    BOOST_TEST_REQUIRE(to.all.size() == 1u);
    BOOST_TEST(to.all[0] == "LOST lock 'orders', fencing token 42, held for 12.3 s: server "
                            "127.0.0.1:6379: " +
                                make_error_code(errc::expired).message());
}

BOOST_AUTO_TEST_CASE(name_with_control_characters_cannot_forge_a_line)
{
    lines to;
    to.log.unused("a\nleasehold: b", 1, 10us);
    BOOST_TEST_REQUIRE(to.all.size() == 1u);
    BOOST_TEST(to.all[0].find('\n') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(exception_of_the_sink_is_ignored)
{
    log_observer log([](std::string_view) { throw std::runtime_error("no place"); });
    notify_every_event(log);
    log_observer none(log_observer::sink{});
    notify_every_event(none);
    BOOST_TEST(none.only_problems());
}

BOOST_AUTO_TEST_CASE(topics_repeat_after_a_minute_and_lines_are_limited)
{
    using verdict = detail::line_limit::verdict;
    detail::line_limit limit;
    clock::time_point now(1h);
    BOOST_TEST((limit.judge("a", now) == verdict::write));
    BOOST_TEST((limit.judge("a", now + 59s) == verdict::repeated));
    BOOST_TEST((limit.judge("a", now + 60s) == verdict::write));
    now += 60s;
    for (std::uint32_t i = 1; i < detail::line_limit::lines; ++i)
        BOOST_TEST((limit.judge(std::to_string(i), now) == verdict::write));
    BOOST_TEST((limit.judge("b", now) == verdict::last));
    BOOST_TEST((limit.judge("c", now) == verdict::too_many));
    BOOST_TEST((limit.judge("c", now + 60s) == verdict::write));
}

BOOST_AUTO_TEST_CASE(observer_of_problems_gets_no_other_event)
{
    memory_lab lab;
    const auto counted = std::make_shared<problem_counter>();
    const auto locks = lab.make_client(counted);
    BOOST_TEST(lab.release(lab.take(mutex(*locks, "a"))) == error_code());
    lab.until([&] { return counted->problems > 0; });
    BOOST_TEST(counted->others == 0);
    // A group with another observer passes all events on.
    BOOST_TEST(observer_group({counted}).only_problems());
    BOOST_TEST(!observer_group({counted, std::make_shared<observer>()}).only_problems());
}

BOOST_AUTO_TEST_CASE(discarded_result_of_async_lock_is_written_to_standard_error_by_default)
{
    captured_stderr captured;
    {
        memory_lab lab;
        client locks(lab.context, make_memory_store(lab.space));
        locks.async_run(asio::detached);
        const mutex m(locks, "orders");
        // The destructor runs as at the end of 'co_await m.async_lock();'. On a slow machine one
        // round may take longer than the time in which this counts as unused.
        for (int i = 0; i < 1000; ++i) {
            bool done = false;
            m.async_lock([&](error_code, lease) { done = true; });
            lab.until([&] { return done; });
            lab.until_idle(locks);
        }
    }
    const std::string text = captured.text();
    BOOST_TEST(text.starts_with("leasehold: lock 'orders' was released after 0 ms"), text);
    BOOST_TEST(std::count(text.begin(), text.end(), '\n') == 1, text);
}

BOOST_AUTO_TEST_CASE(client_with_null_observer_writes_nothing)
{
    captured_stderr captured;
    {
        memory_lab lab;
        client locks(lab.context, make_memory_store(lab.space), nullptr);
        locks.async_run(asio::detached);
        const mutex m(locks, "orders");
        for (int i = 0; i < 10; ++i) {
            bool done = false;
            m.async_lock([&](error_code, lease) { done = true; });
            lab.until([&] { return done; });
            lab.until_idle(locks);
        }
    }
    BOOST_TEST(captured.text().empty());
}

BOOST_AUTO_TEST_CASE(work_of_with_lock_and_explicit_release_write_nothing_by_default)
{
    captured_stderr captured;
    {
        memory_lab lab;
        client locks(lab.context, make_memory_store(lab.space));
        locks.async_run(asio::detached);
        const mutex m(locks, "orders");
        for (int i = 0; i < 100; ++i) {
            bool done = false;
            with_lock(
                m,
                [&] { return asio::post(lab.context, asio::append(asio::deferred, error_code())); },
                [&](error_code) { done = true; });
            lab.until([&] { return done; });
            BOOST_TEST(lab.release(lab.take(m)) == error_code());
        }
    }
    BOOST_TEST(captured.text().empty());
}

BOOST_AUTO_TEST_CASE(full_pipe_does_not_block_the_client)
{
    captured_stderr captured;
    const std::string filling(65536, 'x');
    BOOST_TEST(::write(STDERR_FILENO, filling.data(), filling.size()) == 65536);
    log_observer log;
    notify_every_event(log); // a blocked write would hang here
    BOOST_TEST(captured.text() == filling);
}
