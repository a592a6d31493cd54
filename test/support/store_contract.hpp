#ifndef LEASEHOLD_TEST_SUPPORT_STORE_CONTRACT_HPP
#define LEASEHOLD_TEST_SUPPORT_STORE_CONTRACT_HPP

// What every store has to do. A test of a store derives from `store_lab` and calls
// `add_store_contract`:
//
//   const bool added = leasehold::test::add_store_contract([] { return std::make_unique<my_lab>();
//   });

#include "support/store_session.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/test/test_tools.hpp>
#include <boost/test/tree/test_unit.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace leasehold::test {

/// A server of one test, and what an operator could do to it. One test case gets a new one.
class store_lab
{
public:
    virtual ~store_lab() = default;

    /// A store on the server of this lab, not opened.
    virtual std::shared_ptr<store> make_store() = 0;

    /// Deletes a lock behind everyone's back.
    virtual void erase(std::string_view name) = 0;

    /// Deletes everything.
    virtual void clear() = 0;
};

using lab_factory = std::function<std::unique_ptr<store_lab>()>;

namespace contract {

using namespace std::chrono_literals;
using granted_t = acquire_reply::outcome;
using left_t = release_reply::outcome;

inline acquire_request take(std::string_view name, std::string_view owner,
                            std::chrono::milliseconds lease = 10s)
{
    return {.name = name, .owner = owner, .entry = {}, .lease = lease, .fences = 1, .budget = 10s};
}

inline acquire_request again(std::string_view name, std::string_view owner, std::string_view entry,
                             std::chrono::milliseconds lease = 10s)
{
    return {
        .name = name, .owner = owner, .entry = entry, .lease = lease, .fences = 1, .budget = 10s};
}

inline void wait(asio::io_context& context, std::chrono::milliseconds how_long)
{
    bool over = false;
    asio::steady_timer timer(context, how_long);
    timer.async_wait([&](error_code) { over = true; });
    run_until(context, [&] { return over; });
}

/// Two clients of one server.
struct pair
{
    explicit pair(store_lab& lab) : a(context, lab.make_store()), b(context, lab.make_store())
    {
        a.wait_until_connected();
        b.wait_until_connected();
    }
    ~pair()
    {
        BOOST_TEST(!a.listener_misused);
        BOOST_TEST(!b.listener_misused);
    }
    asio::io_context context;
    store_session a, b;

    granted_t take_by(store_session& who, std::string_view owner, std::string_view name = "lock")
    {
        return who.acquire(take(name, owner)).reply.result;
    }
    left_t leave_by(store_session& who, std::string_view owner, std::string_view entry = {})
    {
        return who.release({.name = "lock", .owner = owner, .entry = entry}).reply.result;
    }
};

inline void one_owner_at_a_time(store_lab& lab)
{
    pair p(lab);
    const auto first = p.a.acquire(take("lock", "a:1"));
    BOOST_TEST(!first.code.failed());
    BOOST_TEST((first.reply.result == granted_t::granted));
    BOOST_TEST(first.reply.fences == 1u);
    BOOST_TEST(first.reply.first_fence > 0u);

    const auto second = p.b.acquire(take("lock", "b:1"));
    BOOST_TEST(!second.code.failed());
    BOOST_TEST((second.reply.result == granted_t::held));
    BOOST_TEST((second.reply.remaining > 0ms && second.reply.remaining <= 10s));

    // Two acquisitions of one client are two owners as well.
    BOOST_TEST((p.take_by(p.a, "a:2") == granted_t::held));
    BOOST_TEST((p.leave_by(p.a, "a:1") == left_t::freed));

    const auto third = p.b.acquire(take("lock", "b:2"));
    BOOST_TEST((third.reply.result == granted_t::granted));
    BOOST_TEST(third.reply.first_fence > first.reply.first_fence);
}

inline void completes_on_the_strand_and_never_inside_the_call(store_lab& lab)
{
    pair p(lab);
    const auto check = [](const auto& answer) {
        BOOST_TEST(answer.on_strand);
        BOOST_TEST(!answer.inside_the_call);
    };
    check(p.a.acquire(take("lock", "a:1")));
    const renewal one[] = {{"lock", "a:1", 10s}};
    check(p.a.renew(one));
    check(p.a.release({.name = "lock", .owner = "a:1", .entry = {}}));
    BOOST_TEST(p.a.connected == 1);
    BOOST_TEST(p.a.disconnected == 0);
}

inline void a_repeated_acquire_counts_once_and_takes_no_foreign_fence(store_lab& lab)
{
    pair p(lab);
    acquire_request request = take("lock", "a:1");
    request.fences = 5;
    const auto first = p.a.acquire(request);
    const auto repeated = p.a.acquire(request);
    BOOST_TEST((repeated.reply.result == granted_t::granted));
    BOOST_TEST(repeated.reply.fences == 1u);
    BOOST_TEST(repeated.reply.first_fence == first.reply.first_fence + first.reply.fences - 1);
    BOOST_TEST((p.leave_by(p.a, "a:1") == left_t::freed));
    BOOST_TEST((p.leave_by(p.a, "a:1") == left_t::not_owner));
    const auto next = p.b.acquire(take("lock", "b:1"));
    BOOST_TEST(next.reply.first_fence > repeated.reply.first_fence);
}

inline void fences_come_in_blocks_that_do_not_overlap(store_lab& lab)
{
    pair p(lab);
    std::uint64_t last = 0;
    for (std::uint32_t wanted : {1u, 100u, 1000u, 1'000'000u, 100u, 1'000'000u, 1u}) {
        acquire_request request = take("lock", "a:1");
        request.fences = wanted;
        const auto got = p.a.acquire(request);
        BOOST_TEST((got.reply.result == granted_t::granted));
        BOOST_TEST(got.reply.first_fence > last);
        BOOST_TEST((got.reply.fences >= 1u && got.reply.fences <= wanted));
        last = got.reply.first_fence + got.reply.fences - 1;
        BOOST_TEST((p.leave_by(p.a, "a:1") == left_t::freed));
    }
}

inline void fences_rise_also_when_the_data_is_lost(store_lab& lab)
{
    pair p(lab);
    acquire_request request = take("lock", "a:1");
    request.fences = 1000;
    const auto before = p.a.acquire(request);
    lab.clear();
    const auto after = p.b.acquire(take("lock", "b:1"));
    BOOST_TEST((after.reply.result == granted_t::granted));
    BOOST_TEST(after.reply.first_fence > before.reply.first_fence + before.reply.fences - 1);
}

inline void a_lease_expires(store_lab& lab)
{
    pair p(lab);
    BOOST_TEST((p.a.acquire(take("lock", "a:1", 30ms)).reply.result == granted_t::granted));
    const auto held = p.b.acquire(take("lock", "b:1"));
    BOOST_TEST((held.reply.result == granted_t::held));
    BOOST_TEST((held.reply.remaining >= 0ms && held.reply.remaining <= 30ms));
    wait(p.context, held.reply.remaining + 2ms);
    BOOST_TEST((p.take_by(p.b, "b:1") == granted_t::granted));
    // Nothing that the late owner does touches its successor.
    const renewal late[] = {{"lock", "a:1", 10s}};
    BOOST_TEST((p.a.renew(late).reply.at(0) == renewal_result::gone));
    BOOST_TEST((p.leave_by(p.a, "a:1") == left_t::not_owner));
    BOOST_TEST((p.a.acquire(again("lock", "a:1", "e")).reply.result == granted_t::gone));
    BOOST_TEST((p.leave_by(p.b, "b:1") == left_t::freed));
}

inline void a_request_after_its_budget_is_refused(store_lab& lab)
{
    pair p(lab);
    acquire_request request = take("lock", "a:1");
    request.budget = -1s;
    const auto refused = p.a.acquire(request);
    BOOST_TEST(!refused.code.failed());
    BOOST_TEST((refused.reply.result == granted_t::late));
    BOOST_TEST((p.take_by(p.b, "b:1") == granted_t::granted));
}

inline void a_lease_is_prolonged_and_never_shortened(store_lab& lab)
{
    pair p(lab);
    p.a.acquire(take("lock", "a:1", 5s));
    const auto left = [&] { return p.b.acquire(take("lock", "b:1")).reply.remaining; };
    const renewal shorter[] = {{"lock", "a:1", 10ms}};
    BOOST_TEST((p.a.renew(shorter).reply.at(0) == renewal_result::renewed));
    BOOST_TEST((left() > 4s));
    const renewal longer[] = {{"lock", "a:1", 60s}};
    BOOST_TEST((p.a.renew(longer).reply.at(0) == renewal_result::renewed));
    BOOST_TEST((left() > 50s));
    p.a.acquire(take("lock", "a:1", 10ms));
    BOOST_TEST((left() > 50s));
    p.a.acquire(again("lock", "a:1", "e", 90s));
    BOOST_TEST((left() > 80s));
}

inline void renewals_are_answered_in_order_and_create_nothing(store_lab& lab)
{
    pair p(lab);
    p.take_by(p.a, "a:1", "one");
    p.take_by(p.b, "b:1", "two");
    p.take_by(p.a, "a:3", "three");
    const renewal batch[] = {
        {"three", "a:3", 10s}, {"two", "a:2", 10s}, {"none", "a:4", 10s}, {"one", "a:1", 10s}};
    const auto got = p.a.renew(batch);
    const std::vector<renewal_result> expected{renewal_result::renewed, renewal_result::gone,
                                               renewal_result::gone, renewal_result::renewed};
    BOOST_TEST(!got.code.failed());
    BOOST_TEST((got.reply == expected));
    BOOST_TEST((p.take_by(p.b, "b:9", "none") == granted_t::granted));
    BOOST_TEST(p.a.renew({}).reply.empty());
}

inline void a_lock_that_was_deleted_is_not_made_again(store_lab& lab)
{
    pair p(lab);
    p.take_by(p.a, "a:1");
    lab.erase("lock");
    const renewal one[] = {{"lock", "a:1", 10s}};
    BOOST_TEST((p.a.renew(one).reply.at(0) == renewal_result::gone));
    BOOST_TEST((p.leave_by(p.a, "a:1") == left_t::not_owner));
    BOOST_TEST((p.a.acquire(again("lock", "a:1", "e")).reply.result == granted_t::gone));
    BOOST_TEST((p.take_by(p.b, "b:1") == granted_t::granted));
}

inline void entries_are_counted_once_each(store_lab& lab)
{
    pair p(lab);
    BOOST_TEST((p.a.acquire(again("lock", "a:1", "e1")).reply.result == granted_t::gone));
    p.take_by(p.a, "a:1");
    for (const char* entry : {"e1", "e2", "e1", "e2"}) {
        const auto entered = p.a.acquire(again("lock", "a:1", entry));
        BOOST_TEST((entered.reply.result == granted_t::granted));
        BOOST_TEST(entered.reply.fences == 0u);
    }
    BOOST_TEST((p.b.acquire(again("lock", "b:1", "e1")).reply.result == granted_t::gone));
    BOOST_TEST((p.leave_by(p.a, "a:1", "e1") == left_t::left));
    BOOST_TEST((p.leave_by(p.a, "a:1", "e1") == left_t::not_owner));
    BOOST_TEST((p.take_by(p.b, "b:1") == granted_t::held));
    BOOST_TEST((p.leave_by(p.a, "a:1") == left_t::left));
    // The first one has gone: a repetition must not take the place of the entry that is left.
    BOOST_TEST((p.leave_by(p.a, "a:1") == left_t::not_owner));
    BOOST_TEST((p.leave_by(p.b, "b:1", "e2") == left_t::not_owner));
    BOOST_TEST((p.leave_by(p.a, "a:1", "e2") == left_t::freed));
    BOOST_TEST((p.take_by(p.b, "b:1") == granted_t::granted));
}

// What the store lost of an entry is told to its holder, who would go on when the first one has
// left.
inline void an_entry_that_is_not_known_is_not_renewed(store_lab& lab)
{
    pair p(lab);
    p.take_by(p.a, "a:1");
    for (const char* entry : {"e1", "e2"})
        BOOST_TEST((p.a.acquire(again("lock", "a:1", entry)).reply.result == granted_t::granted));
    BOOST_TEST((p.leave_by(p.a, "a:1", "e1") == left_t::left));
    const renewal all[] = {{"lock", "a:1", 10s, "e1"},
                           {"lock", "a:1", 10s},
                           {"lock", "a:1", 10s, "e2"},
                           {"lock", "b:1", 10s, "e2"}};
    const std::vector<renewal_result> expected{renewal_result::gone, renewal_result::renewed,
                                               renewal_result::renewed, renewal_result::gone};
    BOOST_TEST((p.a.renew(all).reply == expected));
}

inline void a_release_tells_those_who_watch(store_lab& lab)
{
    pair p(lab);
    p.b.watch("lock");
    p.b.wait_for_hints(1); // the watch is in effect
    p.take_by(p.a, "a:1");
    const auto freed = p.a.release({.name = "lock", .owner = "a:1", .entry = {}});
    BOOST_TEST((freed.reply.result == left_t::freed));
    BOOST_TEST(freed.reply.receivers == 1u);
    p.b.wait_for_hints(2);
    BOOST_TEST(p.b.hints.back() == "lock");
    BOOST_TEST(p.a.hints.empty());
}

inline void the_releaser_is_told_as_well_when_it_watches(store_lab& lab)
{
    pair p(lab);
    p.a.watch("lock");
    p.b.watch("lock");
    p.b.watch("lock"); // twice is the same as once
    p.a.wait_for_hints(1);
    p.b.wait_for_hints(1);
    p.take_by(p.a, "a:1");
    const auto freed = p.a.release({.name = "lock", .owner = "a:1", .entry = {}});
    BOOST_TEST(freed.reply.receivers == 2u);
    p.a.wait_for_hints(2);
    p.b.wait_for_hints(2);
}

inline void only_a_release_that_frees_tells(store_lab& lab)
{
    pair p(lab);
    p.b.watch("lock");
    p.b.wait_for_hints(1);
    p.take_by(p.a, "a:1");
    p.a.acquire(again("lock", "a:1", "e"));
    BOOST_TEST(p.a.release({.name = "lock", .owner = "x:1", .entry = {}}).reply.receivers == 0u);
    BOOST_TEST(p.a.release({.name = "lock", .owner = "a:1", .entry = "e"}).reply.receivers == 0u);
    p.take_by(p.a, "a:2", "other");
    BOOST_TEST(p.a.release({.name = "other", .owner = "a:2", .entry = {}}).reply.receivers == 0u);
    // A hint that came of these would be in front of the one that ends the wait.
    p.leave_by(p.a, "a:1");
    p.b.wait_for_hints(2);
    BOOST_TEST(p.b.hints.size() == 2u);
}

inline void after_unwatch_nobody_is_told(store_lab& lab)
{
    pair p(lab);
    p.b.watch("lock");
    p.b.wait_for_hints(1);
    p.b.unwatch("lock");
    p.b.unwatch("never watched");
    // The end of a watch offers no event; asked until it is in effect.
    for (int i = 0;; ++i) {
        p.take_by(p.a, "a:" + std::to_string(i));
        const std::string owner = "a:" + std::to_string(i);
        if (p.a.release({.name = "lock", .owner = owner, .entry = {}}).reply.receivers == 0)
            break;
        BOOST_TEST_REQUIRE(i < 1000);
    }
    p.b.watch("lock");
    const std::size_t before = p.b.hints.size();
    p.b.wait_for_hints(before + 1);
}

inline void any_bytes_make_a_name(store_lab& lab)
{
    pair p(lab);
    using namespace std::string_literals;
    for (const std::string& name : {"a{b}c"s, "{"s, "}"s, "{}x"s, "nul\0nul"s, "line\r\nline"s,
                                    "\xff\xfe"s, " "s, ":"s, std::string(4096, 'n')}) {
        BOOST_TEST((p.take_by(p.a, "a:1", name) == granted_t::granted));
        BOOST_TEST((p.take_by(p.b, "b:1", name) == granted_t::held));
        p.b.watch(name);
        p.b.wait_for_hints(1);
        BOOST_TEST(
            (p.a.release({.name = name, .owner = "a:1", .entry = {}}).reply.receivers == 1u));
        p.b.wait_for_hints(2);
        BOOST_TEST((p.b.hints.back() == name));
        p.b.unwatch(name);
        p.b.hints.clear();
    }
}

inline void after_close_nothing_is_executed_and_all_is_answered(store_lab& lab)
{
    pair p(lab);
    p.take_by(p.a, "a:1");
    p.a.watch("lock");
    p.a.wait_for_hints(1);
    p.a.close();
    const auto refused = p.a.release({.name = "lock", .owner = "a:1", .entry = {}});
    BOOST_TEST((refused.code == condition::store_fault));
    BOOST_TEST((p.a.acquire(take("lock", "a:1")).code == condition::store_fault));
    BOOST_TEST((p.take_by(p.b, "b:1") == granted_t::held));
    lab.erase("lock");
    p.take_by(p.b, "b:1");
    const std::size_t before = p.a.hints.size();
    p.leave_by(p.b, "b:1");
    p.context.poll();
    BOOST_TEST(p.a.hints.size() == before);
}

inline void what_is_outstanding_at_close_is_answered(store_lab& lab)
{
    pair p(lab);
    int answers = 0;
    p.a.on_the_strand([&] {
        for (const char* name : {"one", "two", "three"})
            p.a.get().async_acquire(take(name, "a:1"),
                                    [&](error_code, acquire_reply) { ++answers; });
    });
    p.a.close();
    run_until(p.context, [&] { return answers == 3; });
}

} // namespace contract

/// Registers every case of the contract with Boost.Test.
inline bool add_store_contract(const lab_factory& make_lab)
{
    const auto add = [&](const char* name, void (*body)(store_lab&)) {
        boost::unit_test::framework::current_auto_test_suite().add(boost::unit_test::make_test_case(
            [make_lab, body] { body(*make_lab()); }, name, __FILE__, std::size_t{__LINE__}));
    };
#define LEASEHOLD_CASE(name) add("contract_" #name, contract::name)
    LEASEHOLD_CASE(one_owner_at_a_time);
    LEASEHOLD_CASE(completes_on_the_strand_and_never_inside_the_call);
    LEASEHOLD_CASE(a_repeated_acquire_counts_once_and_takes_no_foreign_fence);
    LEASEHOLD_CASE(fences_come_in_blocks_that_do_not_overlap);
    LEASEHOLD_CASE(fences_rise_also_when_the_data_is_lost);
    LEASEHOLD_CASE(a_lease_expires);
    LEASEHOLD_CASE(a_request_after_its_budget_is_refused);
    LEASEHOLD_CASE(a_lease_is_prolonged_and_never_shortened);
    LEASEHOLD_CASE(renewals_are_answered_in_order_and_create_nothing);
    LEASEHOLD_CASE(a_lock_that_was_deleted_is_not_made_again);
    LEASEHOLD_CASE(entries_are_counted_once_each);
    LEASEHOLD_CASE(an_entry_that_is_not_known_is_not_renewed);
    LEASEHOLD_CASE(a_release_tells_those_who_watch);
    LEASEHOLD_CASE(the_releaser_is_told_as_well_when_it_watches);
    LEASEHOLD_CASE(only_a_release_that_frees_tells);
    LEASEHOLD_CASE(after_unwatch_nobody_is_told);
    LEASEHOLD_CASE(any_bytes_make_a_name);
    LEASEHOLD_CASE(after_close_nothing_is_executed_and_all_is_answered);
    LEASEHOLD_CASE(what_is_outstanding_at_close_is_answered);
#undef LEASEHOLD_CASE
    return true;
}

} // namespace leasehold::test

#endif
