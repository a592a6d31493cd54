// The checker of chaos accepts good records and rejects all others.
#include <boost/test/unit_test.hpp>

#include "chaos/checker.hpp"
#include "chaos/client_timeline.hpp"
#include "chaos/corruption.hpp"

#include <map>
#include <sstream>
#include <string>
#include <utility>

namespace {

using namespace leasehold::test::chaos;
using namespace std::chrono_literals;

constexpr stamp lease = 500ms;

/// The deadline of a lease whose request is sent now.
stamp deadline_from(stamp sent)
{
    return sent - sent_for(stamp(), lease);
}

/// Writes the history of one client.
class writer
{
public:
    explicit writer(std::string name) { out_.client = std::move(name); }

    void put(stamp at, verb kind, const std::string& name, std::uint32_t op, std::uint64_t fence,
             stamp number = {}, bool flag = false, std::string_view word = {})
    {
        out_.events.push_back({at, kind, name, op, fence, number.count(), flag, std::string(word)});
    }

    std::uint32_t ask(stamp at, const std::string& name, std::string_view how = way::lock)
    {
        put(at, verb::asked, name, ++ops_, 0, {}, false, how);
        return ops_;
    }

    /// The request is sent 1 ms before the report of the grant, and granted 0.1 ms before it.
    void grant(stamp at, const std::string& name, std::uint32_t op, std::uint64_t fence,
               std::string_view how = "fresh")
    {
        put(at - 100us, verb::given, name, 0, fence, {}, false, how);
        put(at, verb::granted, name, op, fence, deadline_from(at - 1ms), true);
    }

    void renew(stamp at, const std::string& name, std::uint32_t op, std::uint64_t fence)
    {
        put(at, verb::renewed, name, op, fence, deadline_from(at - 1ms), true);
    }

    void leave(stamp at, const std::string& name, std::uint32_t op, std::uint64_t fence, stamp sent,
               bool valid = true)
    {
        put(at, verb::releasing, name, op, fence, deadline_from(sent), valid);
    }

    void close(stamp at)
    {
        put(at, verb::closing, {}, 0, 0);
        put(at + 1ms, verb::closed, {}, 0, 0, {}, false, fine);
    }

    history take() { return std::move(out_); }

private:
    history out_;
    std::uint32_t ops_ = 0;
};

/// Three clients and two locks. The data is lost once, one lease expires, one client is killed, and
/// all clients get the locks at the end.
class good_run
{
public:
    good_run()
    {
        stamp t = 1s;
        for (int i = 0; i < 12; ++i, t += 40ms)
            hold(*everybody_[i % 3], i % 2 == 0 ? "a" : "b", t);
        renewed_hold(t);
        t += 1s;
        expired_hold(t);
        t += 1s;
        double_grant(t);
        t += 1s;
        handed_off(t);
        t += 1s;
        others(t);
        all_.healed = t += 1s;
        for (auto* each : {&a_, &b_})
            for (const std::string name : {"a", "b"})
                hold(*each, name, t += 10ms, way::probe);
        killed_.put(all_.healed - 500ms, verb::asked, "a", 5, 0, {}, false,
                    way::lock); // with an unknown outcome
        a_.close(t + 1s);
        b_.close(t + 1s);
        all_.lease = lease;
        all_.names = {"a", "b"};
        all_.clients = {a_.take(), b_.take(), killed_.take()};
        all_.clients[2].ended = ending_kind::killed;
    }

    const record& get() const { return all_; }

private:
    void write(writer& by, const std::string& who, stamp at, const std::string& name,
               std::uint32_t op, std::uint64_t fence)
    {
        const std::int64_t value = ++values_[name];
        by.put(at, verb::read, name, op, fence, stamp(value - 1));
        by.put(at + 1ms, verb::writing, name, op, fence, stamp(value));
        by.put(at + 2ms, verb::wrote, name, op, fence, stamp(value));
        all_.writes[name].push_back({fence, value, who, op});
    }

    std::string name_of(const writer& of) const
    {
        return &of == &a_ ? "c1" : &of == &b_ ? "c2" : "c3";
    }

    void hold(writer& by, const std::string& name, stamp at, std::string_view how = way::lock)
    {
        const auto op = by.ask(at, name, how);
        const auto fence = ++fence_;
        by.grant(at + 2ms, name, op, fence);
        write(by, name_of(by), at + 3ms, name, op, fence);
        by.leave(at + 6ms, name, op, fence, at + 1ms);
        by.put(at + 7ms, verb::released, name, op, fence, {}, false, fine);
    }

    void renewed_hold(stamp at)
    {
        const auto op = a_.ask(at, "a");
        const auto fence = ++fence_;
        a_.grant(at + 2ms, "a", op, fence);
        for (int i = 1; i < 4; ++i)
            a_.renew(at + i * 170ms, "a", op, fence);
        write(a_, "c1", at + 700ms, "a", op, fence);
        a_.leave(at + 710ms, "a", op, fence, at + 3 * 170ms - 1ms);
        a_.put(at + 711ms, verb::released, "a", op, fence, {}, false, fine);
    }

    /// The client is stopped when its lease ends, and gets the report when it continues.
    void expired_hold(stamp at)
    {
        const auto op = b_.ask(at, "b", way::unrenewed);
        const auto fence = ++fence_;
        b_.grant(at + 2ms, "b", op, fence);
        const stamp end = deadline_from(at + 1ms);
        b_.put(end + 300ms, verb::lost, "b", op, fence, end, false, "expired");
        b_.put(end + 300ms, verb::stalled, {}, 0, 0, end - 10ms);
        b_.put(end + 301ms, verb::writing, "b", op, fence, stamp(99));
        b_.put(end + 302ms, verb::refused, "b", op, fence, stamp(99));
        b_.leave(end + 303ms, "b", op, fence, at + 1ms, false);
        b_.put(end + 304ms, verb::released, "b", op, fence, {}, false, "expired");
    }

    void double_grant(stamp at)
    {
        const auto first = a_.ask(at, "a");
        const auto old_fence = ++fence_;
        a_.grant(at + 2ms, "a", first, old_fence);
        all_.faults.push_back({"FLUSHALL", "server", at + 10ms, at + 11ms, true, ""});
        hold(b_, "a", at + 20ms);
        a_.put(at + 100ms, verb::lost, "a", first, old_fence, deadline_from(at + 1ms), false,
               "lost");
        a_.leave(at + 101ms, "a", first, old_fence, at + 1ms, false);
        a_.put(at + 102ms, verb::released, "a", first, old_fence, {}, false, "lost");
    }

    void handed_off(stamp at)
    {
        const auto first = a_.ask(at, "b");
        const auto second = a_.ask(at + 1ms, "b");
        a_.grant(at + 4ms, "b", first, ++fence_);
        a_.leave(at + 5ms, "b", first, fence_, at + 3ms);
        a_.put(at + 6ms, verb::released, "b", first, fence_, {}, false, fine);
        a_.grant(at + 7ms, "b", second, ++fence_, "handed");
        a_.leave(at + 8ms, "b", second, fence_, at + 6ms);
        a_.put(at + 9ms, verb::released, "b", second, fence_, {}, false, fine);
    }

    void others(stamp at)
    {
        const auto cancelled = b_.ask(at, "a", way::cancel);
        b_.put(at + 5ms, verb::cancelled, "a", cancelled, 0);
        const auto tried = b_.ask(at + 6ms, "a", way::try_once);
        b_.put(at + 7ms, verb::failed, "a", tried, 0, {}, false, "held");
        all_.faults.push_back({"client killed", "c3", at, at + 100ms, false, ""});
    }

    record all_;
    writer a_{"c1"}, b_{"c2"}, killed_{"c3"};
    writer* const everybody_[3] = {&a_, &b_, &killed_};
    std::map<std::string, std::int64_t> values_;
    std::uint64_t fence_ = 1000;
};

std::string text_of(const report& of)
{
    std::string text;
    for (const violation& each : of.violations)
        text += std::string(name_of(each.broken)) + ": " + each.text + '\n';
    return text;
}

/// The rule that each corruption violates. It may violate others too.
const std::map<corruption, rule> expected = {
    {corruption::second_holder, rule::exclusion},
    {corruption::fence_repeated, rule::count_}, // reported twice, or out of order
    {corruption::fences_swapped, rule::fence_order},
    {corruption::deadline_further, rule::deadline},
    {corruption::deadline_back, rule::deadline},
    {corruption::valid_too_long, rule::deadline},
    {corruption::loss_untold, rule::loss_reported},
    {corruption::loss_late, rule::loss_reported},
    {corruption::loss_early, rule::loss_caused},
    {corruption::loss_revived, rule::loss_final},
    {corruption::release_missing, rule::loss_reported},
    {corruption::answer_missing, rule::outcome},
    {corruption::time_backwards, rule::well_formed},
    {corruption::write_moved, rule::no_lost_update},
    {corruption::write_missing, rule::no_lost_update},
    {corruption::write_doubled, rule::no_lost_update},
    {corruption::write_invented, rule::register_agrees},
    {corruption::refusal_ignored, rule::register_agrees},
    {corruption::no_entry, rule::liveness},
    {corruption::slow_entry, rule::liveness},
    {corruption::excuse_missing, rule::exclusion},
    {corruption::key_left, rule::left_over},
    {corruption::hold_left, rule::left_over},
    {corruption::bad_exit, rule::exit},
};

} // namespace

BOOST_AUTO_TEST_CASE(history_line_is_read_back_unchanged)
{
    const event all{.at = 123ns,
                    .what = verb::lost,
                    .name = "a",
                    .op = 7,
                    .fence = 18446744073709551615u,
                    .number = -5,
                    .flag = true,
                    .word = "expired"};
    BOOST_TEST((parse_line(to_line(all)) == all));
    const event little{.at = 1ns, .what = verb::closing};
    BOOST_TEST((parse_line(to_line(little)) == little));
    for (const char* bad : {"", "x", "12 lost a 7 8", "12 lost a 7 8 9 2 w", "12 found a 7 8 9 1 w",
                            "12 lost a 7 8 9 1", "12 lost a 7 8 9 1 w w"})
        BOOST_TEST(!parse_line(bad).has_value(), bad);
}

BOOST_AUTO_TEST_CASE(unfinished_line_is_left_for_the_next_read)
{
    const std::string line = to_line({.at = 5ns, .what = verb::asked, .name = "a", .op = 1});
    std::stringstream file;
    history read;
    file << line << "nonsense\n" << line.substr(0, 4);
    read_on(file, read);
    BOOST_TEST(read.events.size() == 1u);
    BOOST_TEST(read.unreadable == 1u);
    file << line.substr(4);
    read_on(file, read);
    BOOST_TEST(read.events.size() == 2u);
    BOOST_TEST(read.unreadable == 1u);
}

BOOST_AUTO_TEST_CASE(record_without_violation_is_accepted)
{
    const report found = check(good_run().get());
    BOOST_TEST(found.violations.empty(), text_of(found));
    BOOST_TEST(found.operations == 25u);
    BOOST_TEST(found.grants == 22u);
    BOOST_TEST(found.handed_off == 1u);
    BOOST_TEST(found.cancelled == 1u);
    BOOST_TEST(found.not_acquired == 1u);
    BOOST_TEST(found.losses.at("expired") == 1u);
    BOOST_TEST(found.losses.at("lost") == 1u);
    BOOST_TEST(found.excused.at("FLUSHALL") == 1u);
    BOOST_TEST(found.refused == 1u);
}

BOOST_AUTO_TEST_CASE(part_of_a_good_record_about_one_name_is_accepted)
{
    const record good = good_run().get();
    for (const std::string& name : good.names) {
        const report found = check(only(good, name));
        BOOST_TEST(found.violations.empty(), text_of(found));
        BOOST_TEST(found.grants > 0u);
    }
}

BOOST_AUTO_TEST_CASE(each_corruption_is_reported_as_its_violation)
{
    const record good = good_run().get();
    for (int i = 0; i < static_cast<int>(corruption::count_); ++i) {
        const auto how = static_cast<corruption>(i);
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            const auto bad = corrupted(good, how, seed);
            BOOST_TEST_REQUIRE(bad.has_value(), name_of(how));
            const report found = check(*bad);
            BOOST_TEST(!found.violations.empty(), name_of(how));
            if (const rule sign = expected.at(how); sign != rule::count_)
                BOOST_TEST(found.has(sign), name_of(how) << " is taken for\n" << text_of(found));
        }
    }
}

BOOST_AUTO_TEST_CASE(all_of_200_corruptions_are_rejected)
{
    const rejections found = reject_corrupted(good_run().get(), 200, 1);
    BOOST_TEST(found.tried == 200);
    BOOST_TEST(found.rejected == 200, found.accepted);
}

BOOST_AUTO_TEST_CASE(loss_of_data_excuses_only_its_name_and_time)
{
    record run = good_run().get();
    fault& flush = run.faults.front();
    const fault was = flush;
    flush.name = "a";
    BOOST_TEST(check(run).violations.empty());
    flush.name = "b";
    BOOST_TEST(check(run).has(rule::exclusion));
    flush = was;
    flush.begin += 300ms; // after the second grant
    flush.end += 300ms;
    BOOST_TEST(check(run).has(rule::exclusion));
    flush = was;
    flush.begin -= 300ms; // before the first grant
    flush.end -= 300ms;
    BOOST_TEST(check(run).has(rule::exclusion));
    flush = was;
    flush.loses = false;
    BOOST_TEST(check(run).has(rule::exclusion));
    BOOST_TEST(check(run).has(rule::loss_caused));
    flush.forgets = true;
    BOOST_TEST(check(run).has(rule::exclusion));
    BOOST_TEST(!check(run).has(rule::loss_caused));
}

BOOST_AUTO_TEST_CASE(late_report_of_a_loss_is_excused_by_a_stall_only)
{
    record run = good_run().get();
    auto& events = run.clients[1].events;
    std::erase_if(events, [](const event& e) { return e.what == verb::stalled; });
    BOOST_TEST(check(run).has(rule::loss_reported));
}
