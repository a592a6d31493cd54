#include "testing/line_contract.hpp"

#include <cstdint>
#include <string_view>

namespace leasehold::testing::contract::line {
namespace {

#define EXPECT(...) expect(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, "line_contract", __LINE__)

acquire_request join(std::string_view owner, std::chrono::milliseconds presence = 10s,
                     std::chrono::milliseconds claim = 5s)
{
    acquire_request request = take("lock", owner);
    request.again = true;
    request.waits = true;
    request.presence = presence;
    request.claim = claim;
    return request;
}

/// A client receives its grants some time after it has joined a queue.
void listen(pair& p, store_session& who, std::string_view owner, store_session& other,
            std::string_view holder)
{
    p.take_by(other, holder);
    who.acquire(join(owner));
    who.until([&] { return who.listening > 0; });
    p.leave_by(who, owner);
    p.leave_by(other, holder);
}

/// Waits for the notification of a grant, and for nothing else.
void wait_for_turn(store_session& who, std::string_view owner)
{
    who.until([&] { return !who.turns.empty(); });
    EXPECT(who.turns.size() == 1u);
    EXPECT(who.turns.front().name == "lock");
    EXPECT(who.turns.front().owner == owner);
    who.turns.clear();
}

void expect_in_line(const store_session::answer<acquire_reply>& got, std::uint32_t place)
{
    EXPECT(!got.code.failed());
    EXPECT(got.reply.result == granted_t::held);
    EXPECT(got.reply.in_line);
    EXPECT(got.reply.place == place);
}

} // namespace

void begin(pair& p)
{
    listen(p, p.a, "a:first", p.b, "b:holder");
    listen(p, p.b, "b:first", p.a, "a:holder");
}

void a_lock_that_is_left_goes_to_the_first_in_line(pair& p)
{
    const auto first = p.a.acquire(join("a:1"));
    EXPECT(first.reply.result == granted_t::granted);
    expect_in_line(p.b.acquire(join("b:1")), 0);
    expect_in_line(p.a.acquire(join("a:2")), 1);

    EXPECT(p.leave_by(p.a, "a:1") == left_t::passed_on);
    wait_for_turn(p.b, "b:1");
    EXPECT(p.a.turns.empty());
    expect_in_line(p.a.acquire(join("a:2")), 0);
    const auto second = p.b.acquire(join("b:1"));
    EXPECT(second.reply.result == granted_t::granted);
    EXPECT(second.reply.first_fence > first.reply.first_fence);

    EXPECT(p.leave_by(p.b, "b:1") == left_t::passed_on);
    wait_for_turn(p.a, "a:2");
    const auto third = p.a.acquire(join("a:2"));
    EXPECT(third.reply.result == granted_t::granted);
    EXPECT(third.reply.first_fence > second.reply.first_fence);
    EXPECT(p.leave_by(p.a, "a:2") == left_t::freed);
}

void who_joins_again_keeps_its_place(pair& p)
{
    p.take_by(p.a, "a:1");
    expect_in_line(p.b.acquire(join("b:1")), 0);
    expect_in_line(p.b.acquire(join("b:2")), 1);
    expect_in_line(p.b.acquire(join("b:1")), 0);
    expect_in_line(p.b.acquire(join("b:2")), 1);
    // An acquire that does not wait is not in the queue.
    const auto try_once = p.b.acquire(take("lock", "b:3"));
    EXPECT(try_once.reply.result == granted_t::held);
    EXPECT(!try_once.reply.in_line);
    expect_in_line(p.b.acquire(join("b:4")), 2);
}

void a_turn_is_a_claim_until_an_acquire_confirms_it(pair& p)
{
    const auto first = p.a.acquire(take("lock", "a:1"));
    expect_in_line(p.b.acquire(join("b:1", 10s, 2s)), 0);
    EXPECT(p.leave_by(p.a, "a:1") == left_t::passed_on);
    const auto left = [&] { return p.a.acquire(look("lock", "a:2")).reply.remaining; };
    EXPECT(left() > 0ms && left() <= 2s);
    const auto confirmed = p.b.acquire(join("b:1", 10s, 2s));
    EXPECT(confirmed.reply.result == granted_t::granted);
    EXPECT(left() > 5s);
    EXPECT(confirmed.reply.first_fence > first.reply.first_fence);
    // A repeated confirmation has no effect, and gets no fence of another owner.
    const auto repeated = p.b.acquire(join("b:1", 10s, 2s));
    EXPECT(repeated.reply.result == granted_t::granted);
    EXPECT(repeated.reply.first_fence >= confirmed.reply.first_fence);
    EXPECT(p.leave_by(p.b, "b:1") == left_t::freed);
}

void who_does_not_claim_its_turn_loses_it(pair& p)
{
    p.take_by(p.a, "a:1");
    expect_in_line(p.b.acquire(join("b:1", 10s, 20ms)), 0);
    expect_in_line(p.b.acquire(join("b:2")), 1);
    EXPECT(p.leave_by(p.a, "a:1") == left_t::passed_on);
    const auto remaining = p.a.acquire(look("lock", "a:2")).reply.remaining;
    EXPECT(remaining <= 20ms);
    p.a.wait(20ms + 2ms);
    // Any poll finds it, and grants the lock to the next.
    p.b.turns.clear();
    EXPECT(p.a.acquire(look("lock", "a:2")).reply.result == granted_t::held);
    wait_for_turn(p.b, "b:2");
    // The late one joins again, at the end.
    expect_in_line(p.b.acquire(join("b:1")), 0);
    EXPECT(p.b.acquire(join("b:2")).reply.result == granted_t::granted);
}

void nobody_takes_a_free_lock_past_the_line(pair& p)
{
    p.take_by(p.a, "a:1");
    expect_in_line(p.b.acquire(join("b:1")), 0);
    p.lab.erase("lock");
    // The lock was lost without a handoff: the next poll does it, also a try.
    acquire_request once = take("lock", "a:2");
    once.again = true;
    EXPECT(p.a.acquire(once).reply.result == granted_t::held);
    wait_for_turn(p.b, "b:1");
    EXPECT(p.b.acquire(join("b:1")).reply.result == granted_t::granted);
    expect_in_line(p.a.acquire(join("a:3")), 0);
    p.lab.erase("lock");
    // The granted owner confirms.
    EXPECT(p.a.acquire(join("a:3")).reply.result == granted_t::granted);
}

void who_has_left_the_line_is_not_given_the_lock(pair& p)
{
    p.take_by(p.a, "a:1");
    expect_in_line(p.b.acquire(join("b:1")), 0);
    expect_in_line(p.b.acquire(join("b:2")), 1);
    EXPECT(p.leave_by(p.b, "b:1") == left_t::left_line);
    EXPECT(p.leave_by(p.b, "b:1") == left_t::not_owner);
    EXPECT(p.leave_by(p.a, "a:1") == left_t::passed_on);
    wait_for_turn(p.b, "b:2");
    // A release by the granted owner passes the lock on.
    expect_in_line(p.a.acquire(join("a:2")), 0);
    EXPECT(p.leave_by(p.b, "b:2") == left_t::passed_on);
    wait_for_turn(p.a, "a:2");
    EXPECT(p.leave_by(p.a, "a:2") == left_t::freed);
    EXPECT(p.take_by(p.b, "b:3") == granted_t::granted);
}

void leaving_the_line_of_an_expired_lock_passes_it_on(pair& p)
{
    acquire_request brief = take("lock", "a:1");
    brief.lease = 20ms;
    EXPECT(p.a.acquire(brief).reply.result == granted_t::granted);
    expect_in_line(p.b.acquire(join("b:1")), 0);
    expect_in_line(p.b.acquire(join("b:2")), 1);
    p.a.wait(20ms + 2ms);
    EXPECT(p.leave_by(p.b, "b:1") == left_t::left_line);
    wait_for_turn(p.b, "b:2");
    EXPECT(p.b.acquire(join("b:2")).reply.result == granted_t::granted);
}

void who_is_not_there_is_passed_over(pair& p)
{
    p.take_by(p.a, "a:1");
    expect_in_line(p.b.acquire(join("b:1", 10ms)), 0);
    expect_in_line(p.b.acquire(join("b:2")), 1);
    p.a.wait(12ms);
    EXPECT(p.leave_by(p.a, "a:1") == left_t::passed_on);
    wait_for_turn(p.b, "b:2");
    EXPECT(p.b.acquire(join("b:2")).reply.result == granted_t::granted);
    expect_in_line(p.b.acquire(join("b:3", 10ms)), 0);
    p.a.wait(12ms);
    // With an empty queue, any acquire gets the lock.
    EXPECT(p.leave_by(p.b, "b:2") == left_t::freed);
    EXPECT(p.take_by(p.a, "a:2") == granted_t::granted);
}

void who_has_gone_is_passed_over(pair& p)
{
    p.take_by(p.a, "a:1");
    expect_in_line(p.b.acquire(join("b:1")), 0);
    expect_in_line(p.a.acquire(join("a:2")), 1);
    p.b.close();
    p.context.restart();
    p.context.poll();
    p.take_by(p.a, "a:3"); // earlier messages have been received there
    EXPECT(p.leave_by(p.a, "a:1") == left_t::passed_on);
    wait_for_turn(p.a, "a:2");
}

void the_next_owner_joins_in_the_same_step(pair& p)
{
    p.take_by(p.a, "a:1");
    expect_in_line(p.b.acquire(join("b:1")), 0);
    const acquire_request next = join("a:2");
    const auto left = p.a.release({.name = "lock", .owner = "a:1", .entry = {}, .next = &next});
    EXPECT(left.reply.result == left_t::passed_on);
    EXPECT(left.reply.next.has_value());
    EXPECT(left.reply.next->result == granted_t::held);
    EXPECT(left.reply.next->in_line && left.reply.next->place == 0u);
    wait_for_turn(p.b, "b:1");
    EXPECT(p.b.acquire(join("b:1")).reply.result == granted_t::granted);
    EXPECT(p.leave_by(p.b, "b:1") == left_t::passed_on);
    wait_for_turn(p.a, "a:2");
}

void the_next_owner_has_it_when_nobody_waits(pair& p)
{
    const auto first = p.a.acquire(take("lock", "a:1"));
    const acquire_request next = join("a:2");
    const auto left = p.a.release({.name = "lock", .owner = "a:1", .entry = {}, .next = &next});
    EXPECT(left.reply.result == left_t::freed);
    EXPECT(left.reply.next.has_value());
    EXPECT(left.reply.next->result == granted_t::granted);
    EXPECT(left.reply.next->first_fence > first.reply.first_fence);
    EXPECT(left.reply.next->fences == 1u);
    EXPECT(p.take_by(p.b, "b:1") == granted_t::held);
    EXPECT(p.leave_by(p.a, "a:2") == left_t::freed);
}

void a_release_that_leaves_nothing_brings_nobody_in(pair& p)
{
    p.take_by(p.a, "a:1");
    expect_in_line(p.b.acquire(join("b:1")), 0);
    const acquire_request next = join("a:2");
    const release_request leaving{.name = "lock", .owner = "a:1", .entry = {}, .next = &next};
    EXPECT(p.a.release(leaving).reply.result == left_t::passed_on);
    EXPECT(p.leave_by(p.a, "a:2") == left_t::left_line);
    // The repetition of a release whose reply was lost.
    const auto again = p.a.release(leaving);
    EXPECT(again.reply.result == left_t::not_owner);
    EXPECT(!again.reply.next);
    EXPECT(p.leave_by(p.a, "a:2") == left_t::not_owner);
}

void a_next_owner_after_its_budget_does_not_join(pair& p)
{
    if (!p.traits.refuses_late)
        return;
    p.take_by(p.a, "a:1");
    acquire_request next = join("a:2");
    next.budget = -1s;
    const auto left = p.a.release({.name = "lock", .owner = "a:1", .entry = {}, .next = &next});
    EXPECT(left.reply.result == left_t::freed);
    EXPECT(!left.reply.next);
    EXPECT(p.take_by(p.b, "b:1") == granted_t::granted);
}

void those_in_line_wait_for_every_entry(pair& p)
{
    p.take_by(p.a, "a:1");
    expect_in_line(p.b.acquire(join("b:1")), 0);
    EXPECT(p.a.acquire(again("lock", "a:1", "e")).reply.result == granted_t::granted);
    EXPECT(p.leave_by(p.a, "a:1") == left_t::left);
    expect_in_line(p.b.acquire(join("b:1")), 0);
    EXPECT(p.leave_by(p.a, "a:1", "e") == left_t::passed_on);
    wait_for_turn(p.b, "b:1");
}

namespace {

/// The first waiter polls until it has the lock. At once in a store without external clients.
void look_until_granted(store_session& who, std::string_view owner)
{
    for (int looks = 0;; ++looks) {
        const auto got = who.acquire(join(owner));
        if (got.reply.result == granted_t::granted)
            return;
        expect_in_line(got, 0);
        EXPECT(got.reply.remaining >= 0ms && got.reply.remaining <= 1s);
        EXPECT(looks < 1'000);
        who.wait(got.reply.remaining + 2ms);
    }
}

} // namespace

void a_foreign_turn_costs_nobody_its_place(pair& p)
{
    p.take_by(p.a, "a:1");
    expect_in_line(p.b.acquire(join("b:1")), 0);
    expect_in_line(p.b.acquire(join("b:2")), 1);
    const auto left = p.a.release(
        {.name = "lock", .owner = "a:1", .entry = {}, .foreign_turn = 30ms});
    EXPECT(left.reply.result == left_t::passed_on);
    wait_for_turn(p.b, "b:1");
    // Acquires meanwhile, without waiting or at the end of the queue, are not granted before.
    EXPECT(p.a.acquire(look("lock", "a:2")).reply.result == granted_t::held);
    const auto later = p.a.acquire(join("a:3"));
    EXPECT(later.reply.result == granted_t::held && later.reply.in_line);
    look_until_granted(p.b, "b:1");
    EXPECT(p.leave_by(p.b, "b:1") == left_t::passed_on);
    look_until_granted(p.b, "b:2");
    EXPECT(p.leave_by(p.b, "b:2") == left_t::passed_on);
    look_until_granted(p.a, "a:3");
    EXPECT(p.leave_by(p.a, "a:3") == left_t::freed);
}

void the_next_owner_has_it_after_the_foreign_turn(pair& p)
{
    p.take_by(p.a, "a:1");
    const acquire_request next = join("a:2");
    const auto left = p.a.release(
        {.name = "lock", .owner = "a:1", .entry = {}, .next = &next, .foreign_turn = 30ms});
    EXPECT(left.reply.next.has_value());
    EXPECT(left.reply.next->result == granted_t::granted || left.reply.next->in_line);
    EXPECT(p.b.acquire(join("b:1")).reply.in_line);
    look_until_granted(p.a, "a:2");
    EXPECT(p.leave_by(p.a, "a:2") == left_t::passed_on);
    wait_for_turn(p.b, "b:1");
}

#undef EXPECT

} // namespace leasehold::testing::contract::line
