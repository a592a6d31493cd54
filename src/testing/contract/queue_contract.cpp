#include "testing/contract/queue_contract.hpp"

#include <cstdint>
#include <string_view>

namespace leasehold::testing::contract::queue {
namespace {

#define EXPECT(...) expect(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, "line_contract", __LINE__)

/// It expires within a case, and not before the next request of a slow store.
constexpr std::chrono::milliseconds brief_time = 100ms;

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
void listen(pair& p, store_session& session, std::string_view owner, store_session& other,
            std::string_view holder)
{
    p.acquire_by(other, holder);
    session.acquire(join(owner));
    session.until([&] { return session.listening > 0; });
    p.release_by(session, owner);
    p.release_by(other, holder);
}

/// Waits for the notification of a grant, and for nothing else.
void wait_for_grant(store_session& session, std::string_view owner)
{
    session.until([&] { return !session.grants.empty(); });
    EXPECT(session.grants.size() == 1u);
    EXPECT(session.grants.front().name == "lock");
    EXPECT(session.grants.front().owner == owner);
    session.grants.clear();
}

void expect_queued(const store_session::answer<acquire_reply>& got, std::uint32_t place)
{
    EXPECT(!got.code.failed());
    EXPECT(got.reply.result == granted_t::held);
    EXPECT(got.reply.queued);
    EXPECT(got.reply.position == place);
}

} // namespace

void begin(pair& p)
{
    listen(p, p.a, "a:first", p.b, "b:holder");
    listen(p, p.b, "b:first", p.a, "a:holder");
}

void released_lock_is_granted_to_the_first_waiter(pair& p)
{
    const auto first = p.a.acquire(join("a:1"));
    EXPECT(first.reply.result == granted_t::granted);
    expect_queued(p.b.acquire(join("b:1")), 0);
    expect_queued(p.a.acquire(join("a:2")), 1);

    EXPECT(p.release_by(p.a, "a:1") == released_t::granted_next);
    wait_for_grant(p.b, "b:1");
    EXPECT(p.a.grants.empty());
    expect_queued(p.a.acquire(join("a:2")), 0);
    const auto second = p.b.acquire(join("b:1"));
    EXPECT(second.reply.result == granted_t::granted);
    EXPECT(second.reply.first_fence > first.reply.first_fence);

    EXPECT(p.release_by(p.b, "b:1") == released_t::granted_next);
    wait_for_grant(p.a, "a:2");
    const auto third = p.a.acquire(join("a:2"));
    EXPECT(third.reply.result == granted_t::granted);
    EXPECT(third.reply.first_fence > second.reply.first_fence);
    EXPECT(p.release_by(p.a, "a:2") == released_t::freed);
}

void waiter_that_joins_again_keeps_its_position(pair& p)
{
    p.acquire_by(p.a, "a:1");
    expect_queued(p.b.acquire(join("b:1")), 0);
    expect_queued(p.b.acquire(join("b:2")), 1);
    expect_queued(p.b.acquire(join("b:1")), 0);
    expect_queued(p.b.acquire(join("b:2")), 1);
    // An acquire that does not wait is not in the queue.
    const auto try_once = p.b.acquire(take("lock", "b:3"));
    EXPECT(try_once.reply.result == granted_t::held);
    EXPECT(!try_once.reply.queued);
    expect_queued(p.b.acquire(join("b:4")), 2);
}

void grant_is_a_claim_until_an_acquire_confirms_it(pair& p)
{
    const auto first = p.a.acquire(take("lock", "a:1"));
    expect_queued(p.b.acquire(join("b:1", 10s, 2s)), 0);
    EXPECT(p.release_by(p.a, "a:1") == released_t::granted_next);
    const auto left = [&] { return p.a.acquire(look("lock", "a:2")).reply.remaining; };
    if (!p.traits.session)
        EXPECT(left() > 0ms && left() <= 2s);
    const auto confirmed = p.b.acquire(join("b:1", 10s, 2s));
    EXPECT(confirmed.reply.result == granted_t::granted);
    if (!p.traits.session)
        EXPECT(left() > 5s);
    EXPECT(confirmed.reply.first_fence > first.reply.first_fence);
    // A repeated confirmation has no effect, and gets no fence of another owner.
    const auto repeated = p.b.acquire(join("b:1", 10s, 2s));
    EXPECT(repeated.reply.result == granted_t::granted);
    EXPECT(repeated.reply.first_fence >= confirmed.reply.first_fence);
    EXPECT(p.release_by(p.b, "b:1") == released_t::freed);
}

void unconfirmed_grant_expires(pair& p)
{
    p.acquire_by(p.a, "a:1");
    expect_queued(p.b.acquire(join("b:1", 10s, brief_time)), 0);
    expect_queued(p.b.acquire(join("b:2")), 1);
    EXPECT(p.release_by(p.a, "a:1") == released_t::granted_next);
    const auto remaining = p.a.acquire(look("lock", "a:2")).reply.remaining;
    EXPECT(remaining <= brief_time);
    p.a.wait(brief_time + 2ms);
    // Any poll finds it, and grants the lock to the next.
    p.b.grants.clear();
    EXPECT(p.a.acquire(look("lock", "a:2")).reply.result == granted_t::held);
    wait_for_grant(p.b, "b:2");
    // The late one joins again, at the end.
    expect_queued(p.b.acquire(join("b:1")), 0);
    EXPECT(p.b.acquire(join("b:2")).reply.result == granted_t::granted);
}

void free_lock_is_granted_to_the_first_waiter_only(pair& p)
{
    p.acquire_by(p.a, "a:1");
    expect_queued(p.b.acquire(join("b:1")), 0);
    p.lab.erase("lock");
    // The lock was lost without a handoff: the next poll does it, also a try.
    acquire_request once = take("lock", "a:2");
    once.again = true;
    EXPECT(p.a.acquire(once).reply.result == granted_t::held);
    wait_for_grant(p.b, "b:1");
    EXPECT(p.b.acquire(join("b:1")).reply.result == granted_t::granted);
    expect_queued(p.a.acquire(join("a:3")), 0);
    p.lab.erase("lock");
    // The granted owner confirms.
    EXPECT(p.a.acquire(join("a:3")).reply.result == granted_t::granted);
}

void waiter_that_left_the_queue_is_not_granted_the_lock(pair& p)
{
    p.acquire_by(p.a, "a:1");
    expect_queued(p.b.acquire(join("b:1")), 0);
    expect_queued(p.b.acquire(join("b:2")), 1);
    EXPECT(p.release_by(p.b, "b:1") == released_t::left_queue);
    EXPECT(p.release_by(p.b, "b:1") == released_t::not_owner);
    EXPECT(p.release_by(p.a, "a:1") == released_t::granted_next);
    wait_for_grant(p.b, "b:2");
    // A release by the granted owner passes the lock on.
    expect_queued(p.a.acquire(join("a:2")), 0);
    EXPECT(p.release_by(p.b, "b:2") == released_t::granted_next);
    wait_for_grant(p.a, "a:2");
    EXPECT(p.release_by(p.a, "a:2") == released_t::freed);
    EXPECT(p.acquire_by(p.b, "b:3") == granted_t::granted);
}

void leaving_waiter_grants_an_expired_lock_to_the_next(pair& p)
{
    acquire_request brief = take("lock", "a:1");
    brief.lease = brief_time;
    EXPECT(p.a.acquire(brief).reply.result == granted_t::granted);
    expect_queued(p.b.acquire(join("b:1")), 0);
    expect_queued(p.b.acquire(join("b:2")), 1);
    p.a.wait(brief_time + 2ms);
    EXPECT(p.release_by(p.b, "b:1") == released_t::left_queue);
    wait_for_grant(p.b, "b:2");
    EXPECT(p.b.acquire(join("b:2")).reply.result == granted_t::granted);
}

void expired_waiter_is_skipped(pair& p)
{
    p.acquire_by(p.a, "a:1");
    expect_queued(p.b.acquire(join("b:1", brief_time)), 0);
    expect_queued(p.b.acquire(join("b:2")), 1);
    p.a.wait(brief_time + 2ms);
    EXPECT(p.release_by(p.a, "a:1") == released_t::granted_next);
    wait_for_grant(p.b, "b:2");
    EXPECT(p.b.acquire(join("b:2")).reply.result == granted_t::granted);
    expect_queued(p.b.acquire(join("b:3", brief_time)), 0);
    p.a.wait(brief_time + 2ms);
    // With an empty queue, any acquire gets the lock.
    EXPECT(p.release_by(p.b, "b:2") == released_t::freed);
    EXPECT(p.acquire_by(p.a, "a:2") == granted_t::granted);
}

void waiter_of_an_ended_client_is_skipped(pair& p)
{
    p.acquire_by(p.a, "a:1");
    expect_queued(p.b.acquire(join("b:1")), 0);
    expect_queued(p.a.acquire(join("a:2")), 1);
    p.b.close();
    p.context.restart();
    p.context.poll();
    p.lab.wait_for_ended_clients();
    p.acquire_by(p.a, "a:3"); // earlier messages have been received there
    EXPECT(p.release_by(p.a, "a:1") == released_t::granted_next);
    wait_for_grant(p.a, "a:2");
}

void next_owner_joins_in_the_same_step(pair& p)
{
    p.acquire_by(p.a, "a:1");
    expect_queued(p.b.acquire(join("b:1")), 0);
    const acquire_request next = join("a:2");
    const auto left = p.a.release({.name = "lock", .owner = "a:1", .entry = {}, .next = &next});
    EXPECT(left.reply.result == released_t::granted_next);
    EXPECT(left.reply.next.has_value());
    EXPECT(left.reply.next->result == granted_t::held);
    EXPECT(left.reply.next->queued && left.reply.next->position == 0u);
    wait_for_grant(p.b, "b:1");
    EXPECT(p.b.acquire(join("b:1")).reply.result == granted_t::granted);
    EXPECT(p.release_by(p.b, "b:1") == released_t::granted_next);
    wait_for_grant(p.a, "a:2");
}

void next_owner_gets_the_lock_if_the_queue_is_empty(pair& p)
{
    const auto first = p.a.acquire(take("lock", "a:1"));
    const acquire_request next = join("a:2");
    const auto left = p.a.release({.name = "lock", .owner = "a:1", .entry = {}, .next = &next});
    EXPECT(left.reply.result == released_t::freed);
    EXPECT(left.reply.next.has_value());
    EXPECT(left.reply.next->result == granted_t::granted);
    EXPECT(left.reply.next->first_fence > first.reply.first_fence);
    EXPECT(left.reply.next->fences == 1u);
    EXPECT(p.acquire_by(p.b, "b:1") == granted_t::held);
    EXPECT(p.release_by(p.a, "a:2") == released_t::freed);
}

void release_without_effect_enqueues_no_next_owner(pair& p)
{
    p.acquire_by(p.a, "a:1");
    expect_queued(p.b.acquire(join("b:1")), 0);
    const acquire_request next = join("a:2");
    const release_request leaving{.name = "lock", .owner = "a:1", .entry = {}, .next = &next};
    EXPECT(p.a.release(leaving).reply.result == released_t::granted_next);
    EXPECT(p.release_by(p.a, "a:2") == released_t::left_queue);
    // The repetition of a release whose reply was lost.
    const auto again = p.a.release(leaving);
    EXPECT(again.reply.result == released_t::not_owner);
    EXPECT(!again.reply.next);
    EXPECT(p.release_by(p.a, "a:2") == released_t::not_owner);
}

void late_next_owner_does_not_join(pair& p)
{
    if (!p.traits.rejects_late)
        return;
    p.acquire_by(p.a, "a:1");
    acquire_request next = join("a:2");
    next.budget = -1s;
    const auto left = p.a.release({.name = "lock", .owner = "a:1", .entry = {}, .next = &next});
    EXPECT(left.reply.result == released_t::freed);
    EXPECT(!left.reply.next);
    EXPECT(p.acquire_by(p.b, "b:1") == granted_t::granted);
}

void waiters_wait_for_each_reentrant_acquisition(pair& p)
{
    p.acquire_by(p.a, "a:1");
    expect_queued(p.b.acquire(join("b:1")), 0);
    EXPECT(p.a.acquire(again("lock", "a:1", "e")).reply.result == granted_t::granted);
    EXPECT(p.release_by(p.a, "a:1") == released_t::still_held);
    expect_queued(p.b.acquire(join("b:1")), 0);
    EXPECT(p.release_by(p.a, "a:1", "e") == released_t::granted_next);
    wait_for_grant(p.b, "b:1");
}

namespace {

/// The first waiter polls until it has the lock. At once in a store without external clients.
void poll_until_granted(store_session& session, std::string_view owner)
{
    for (int looks = 0;; ++looks) {
        const auto got = session.acquire(join(owner));
        if (got.reply.result == granted_t::granted)
            return;
        expect_queued(got, 0);
        EXPECT(got.reply.remaining >= 0ms && got.reply.remaining <= 1s);
        EXPECT(looks < 1'000);
        session.wait(got.reply.remaining + 2ms);
    }
}

} // namespace

void external_time_keeps_the_positions(pair& p)
{
    p.acquire_by(p.a, "a:1");
    expect_queued(p.b.acquire(join("b:1")), 0);
    expect_queued(p.b.acquire(join("b:2")), 1);
    const auto left = p.a.release(
        {.name = "lock", .owner = "a:1", .entry = {}, .external_time = 30ms});
    EXPECT(left.reply.result == released_t::granted_next);
    wait_for_grant(p.b, "b:1");
    // Acquires meanwhile, without waiting or at the end of the queue, are not granted before.
    EXPECT(p.a.acquire(look("lock", "a:2")).reply.result == granted_t::held);
    const auto later = p.a.acquire(join("a:3"));
    EXPECT(later.reply.result == granted_t::held && later.reply.queued);
    poll_until_granted(p.b, "b:1");
    EXPECT(p.release_by(p.b, "b:1") == released_t::granted_next);
    poll_until_granted(p.b, "b:2");
    EXPECT(p.release_by(p.b, "b:2") == released_t::granted_next);
    poll_until_granted(p.a, "a:3");
    EXPECT(p.release_by(p.a, "a:3") == released_t::freed);
}

void next_owner_gets_the_lock_after_the_external_time(pair& p)
{
    p.acquire_by(p.a, "a:1");
    const acquire_request next = join("a:2");
    const auto left = p.a.release(
        {.name = "lock", .owner = "a:1", .entry = {}, .next = &next, .external_time = 30ms});
    EXPECT(left.reply.next.has_value());
    EXPECT(left.reply.next->result == granted_t::granted || left.reply.next->queued);
    EXPECT(p.b.acquire(join("b:1")).reply.queued);
    poll_until_granted(p.a, "a:2");
    EXPECT(p.release_by(p.a, "a:2") == released_t::granted_next);
    wait_for_grant(p.b, "b:1");
}

#undef EXPECT

} // namespace leasehold::testing::contract::queue
