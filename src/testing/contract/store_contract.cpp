#include "testing/contract/contract_pair.hpp"
#include "testing/contract/queue_contract.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::testing {
namespace {

using namespace contract;
using namespace contract::queue;

#define EXPECT(...) expect(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, "store_contract", __LINE__)

void a_name_is_in_a_partition_that_connects(pair& p)
{
    for (const char* name : {"lock", "another", ""})
        EXPECT(p.a.online.contains(p.a.get().partition_of(name)));
}

void one_owner_at_a_time(pair& p)
{
    const auto first = p.a.acquire(take("lock", "a:1"));
    EXPECT(!first.code.failed());
    EXPECT(first.reply.result == granted_t::granted);
    EXPECT(first.reply.fences == 1u);
    EXPECT(first.reply.first_fence > 0u);

    const auto second = p.b.acquire(take("lock", "b:1"));
    EXPECT(!second.code.failed());
    EXPECT(second.reply.result == granted_t::held);
    EXPECT(second.reply.remaining <= 10s);
    const auto looked = p.b.acquire(look("lock", "b:1"));
    EXPECT(looked.reply.result == granted_t::held);
    if (!p.traits.session)
        EXPECT(looked.reply.remaining > 0ms && looked.reply.remaining <= 10s);

    // Two acquisitions of one client are two owners as well.
    EXPECT(p.acquire_by(p.a, "a:2") == granted_t::held);
    EXPECT(p.release_by(p.a, "a:1") == released_t::freed);

    const auto third = p.b.acquire(take("lock", "b:2"));
    EXPECT(third.reply.result == granted_t::granted);
    EXPECT(third.reply.first_fence > first.reply.first_fence);
}

void completes_on_the_strand_and_never_inside_the_call(pair& p)
{
    const auto check = [](const auto& answer) {
        EXPECT(answer.on_strand);
        EXPECT(!answer.inside_the_call);
    };
    check(p.a.acquire(take("lock", "a:1")));
    const renewal one[] = {{"lock", "a:1", 10s}};
    check(p.a.renew(one));
    check(p.a.release({.name = "lock", .owner = "a:1", .entry = {}}));
    EXPECT(p.a.connected == static_cast<int>(p.a.online.size()));
    EXPECT(p.a.disconnected == 0);
}

void repeated_acquire_counts_once_and_gets_no_fence_of_another_owner(pair& p)
{
    acquire_request request = take("lock", "a:1");
    request.fences = 5;
    const auto first = p.a.acquire(request);
    request.again = true;
    const auto repeated = p.a.acquire(request);
    EXPECT(repeated.reply.result == granted_t::granted);
    // The last of the earlier grant, or new ones: none that another owner may have got.
    EXPECT(repeated.reply.first_fence >= first.reply.first_fence + first.reply.fences - 1);
    EXPECT(p.release_by(p.a, "a:1") == released_t::freed);
    EXPECT(p.release_by(p.a, "a:1") == released_t::not_owner);
    const auto next = p.b.acquire(take("lock", "b:1"));
    EXPECT(next.reply.first_fence > repeated.reply.first_fence);
}

void fences_come_in_blocks_that_do_not_overlap(pair& p)
{
    std::uint64_t last = 0;
    for (std::uint32_t wanted : {1u, 100u, 1000u, 1'000'000u, 100u, 1'000'000u, 1u}) {
        acquire_request request = take("lock", "a:1");
        request.fences = wanted;
        const auto got = p.a.acquire(request);
        EXPECT(got.reply.result == granted_t::granted);
        EXPECT(got.reply.first_fence > last);
        EXPECT(got.reply.fences >= 1u && got.reply.fences <= wanted);
        last = got.reply.first_fence + got.reply.fences - 1;
        EXPECT(p.release_by(p.a, "a:1") == released_t::freed);
    }
}

void fences_rise_also_when_the_data_is_lost(pair& p)
{
    if (p.traits.fences != store_traits::fence_source::counter_over_clock)
        return;
    acquire_request request = take("lock", "a:1");
    request.fences = 1000;
    const auto before = p.a.acquire(request);
    p.lab.clear();
    const auto after = p.certain(p.b, take("lock", "b:1"));
    EXPECT(after.reply.result == granted_t::granted);
    EXPECT(after.reply.first_fence > before.reply.first_fence + before.reply.fences - 1);
}

void a_lease_expires(pair& p)
{
    EXPECT(p.a.acquire(take("lock", "a:1", 1s)).reply.result == granted_t::granted);
    const auto held = p.b.acquire(look("lock", "b:1"));
    EXPECT(held.reply.result == granted_t::held);
    EXPECT(held.reply.remaining >= 0ms && held.reply.remaining <= 1s);
    p.a.wait(held.reply.remaining + 2ms);
    EXPECT(p.acquire_by(p.b, "b:1") == granted_t::granted);
    // Requests of the late owner do not change the lock of its successor.
    const renewal late[] = {{"lock", "a:1", 10s}};
    EXPECT(p.a.renew(late).reply.results.at(0) == renewal_result::gone);
    EXPECT(p.release_by(p.a, "a:1") == released_t::not_owner);
    EXPECT(p.a.acquire(again("lock", "a:1", "e")).reply.result == granted_t::gone);
    EXPECT(p.release_by(p.b, "b:1") == released_t::freed);
}

void end_of_a_session_frees_its_locks(pair& p)
{
    EXPECT(p.acquire_by(p.a, "a:1") == granted_t::granted);
    EXPECT(p.a.acquire(again("lock", "a:1", "e")).reply.result == granted_t::granted);
    EXPECT(p.acquire_by(p.a, "a:2", "another") == granted_t::granted);
    EXPECT(p.acquire_by(p.b, "b:1") == granted_t::held);
    p.a.close();
    p.context.restart();
    p.context.poll();
    p.lab.wait_for_ended_clients();
    EXPECT(p.acquire_by(p.b, "b:1") == granted_t::granted);
    EXPECT(p.acquire_by(p.b, "b:2", "another") == granted_t::granted);
}

void lease_of_a_session_is_renewed(pair& p)
{
    EXPECT(p.acquire_by(p.a, "a:1") == granted_t::granted);
    const renewal one[] = {{"lock", "a:1", 24h}};
    const auto renewed = p.a.renew(one);
    EXPECT(renewed.reply.results.at(0) == renewal_result::renewed);
    // No session is as long.
    EXPECT(renewed.reply.lease.has_value());
    EXPECT(*renewed.reply.lease > 0ms && *renewed.reply.lease < 24h);
}

void lost_lock_of_a_session_is_reported(pair& p)
{
    EXPECT(p.acquire_by(p.a, "a:1") == granted_t::granted);
    const renewal one[] = {{"lock", "a:1", 10s}};
    EXPECT(p.a.renew(one).reply.results.at(0) == renewal_result::renewed);
    p.lab.erase("lock");
    p.a.until([&] { return !p.a.gone.empty(); });
    EXPECT(p.a.gone.size() == 1u);
    EXPECT(p.a.gone.front().name == "lock" && p.a.gone.front().owner == "a:1");
    EXPECT(p.release_by(p.a, "a:1") == released_t::not_owner);
}

void late_acquire_is_rejected(pair& p)
{
    acquire_request request = take("lock", "a:1");
    request.budget = -1s;
    const auto refused = p.a.acquire(request);
    EXPECT(!refused.code.failed());
    EXPECT(refused.reply.result == granted_t::late);
    EXPECT(p.acquire_by(p.b, "b:1") == granted_t::granted);
}

// A store of several servers may extend the TTL at some of them later, so this waits for it.
bool is_left(pair& p, const char* name, std::chrono::milliseconds least)
{
    if (p.traits.session) // unknown
        return true;
    for (int tries = 0; tries < 1'000; ++tries) {
        if (p.certain(p.b, look(name, "b:1")).reply.remaining > least)
            return true;
    }
    return false;
}

void renewal_extends_a_lease_and_never_shortens_it(pair& p)
{
    p.a.acquire(take("lock", "a:1", 20s));
    const renewal shorter[] = {{"lock", "a:1", 8s}};
    EXPECT(p.a.renew(shorter).reply.results.at(0) == renewal_result::renewed);
    EXPECT(is_left(p, "lock", 15s));
    const renewal longer[] = {{"lock", "a:1", 60s}};
    EXPECT(p.a.renew(longer).reply.results.at(0) == renewal_result::renewed);
    EXPECT(is_left(p, "lock", 50s));
    p.a.acquire(look("lock", "a:1", 8s));
    EXPECT(is_left(p, "lock", 50s));
    p.a.acquire(again("lock", "a:1", "e", 90s));
    EXPECT(is_left(p, "lock", 80s));
}

void renewals_are_answered_in_order_and_create_nothing(pair& p)
{
    p.acquire_by(p.a, "a:1", "one");
    p.acquire_by(p.b, "b:1", "two");
    p.acquire_by(p.a, "a:3", "three");
    const renewal batch[] = {
        {"three", "a:3", 10s}, {"two", "a:2", 10s}, {"none", "a:4", 10s}, {"one", "a:1", 10s}};
    const auto got = p.a.renew(batch);
    const std::vector<renewal_result> expected{renewal_result::renewed, renewal_result::gone,
                                               renewal_result::gone, renewal_result::renewed};
    EXPECT(!got.code.failed());
    EXPECT(got.reply.results == expected);
    EXPECT(p.acquire_by(p.b, "b:9", "none") == granted_t::granted);
    EXPECT(p.a.renew({}).reply.results.empty());
}

void deleted_lock_is_not_created_by_a_renewal(pair& p)
{
    p.acquire_by(p.a, "a:1");
    p.a.until([&] { return p.lab.is_everywhere("lock"); });
    p.lab.erase("lock");
    const renewal one[] = {{"lock", "a:1", 10s}};
    EXPECT(p.a.renew(one).reply.results.at(0) == renewal_result::gone);
    EXPECT(p.release_by(p.a, "a:1") == released_t::not_owner);
    EXPECT(p.a.acquire(again("lock", "a:1", "e")).reply.result == granted_t::gone);
    EXPECT(p.acquire_by(p.b, "b:1") == granted_t::granted);
}

void reentrant_acquisition_counts_once(pair& p)
{
    EXPECT(p.a.acquire(again("lock", "a:1", "e1")).reply.result == granted_t::gone);
    p.acquire_by(p.a, "a:1");
    for (const char* entry : {"e1", "e2", "e1", "e2"}) {
        const auto reentered = p.a.acquire(again("lock", "a:1", entry));
        EXPECT(reentered.reply.result == granted_t::granted);
        EXPECT(reentered.reply.fences == 0u);
    }
    EXPECT(p.b.acquire(again("lock", "b:1", "e1")).reply.result == granted_t::gone);
    EXPECT(p.release_by(p.a, "a:1", "e1") == released_t::still_held);
    EXPECT(p.release_by(p.a, "a:1", "e1") == released_t::not_owner);
    EXPECT(p.acquire_by(p.b, "b:1") == granted_t::held);
    EXPECT(p.release_by(p.a, "a:1") == released_t::still_held);
    // The first one has gone: a repetition must not remove the remaining entry.
    EXPECT(p.release_by(p.a, "a:1") == released_t::not_owner);
    EXPECT(p.release_by(p.b, "b:1", "e2") == released_t::not_owner);
    EXPECT(p.release_by(p.a, "a:1", "e2") == released_t::freed);
    EXPECT(p.acquire_by(p.b, "b:1") == granted_t::granted);
}

// The loss of an entry is reported to its holder, which would otherwise continue after the first
// one was released.
void unknown_reentrant_acquisition_is_not_renewed(pair& p)
{
    p.acquire_by(p.a, "a:1");
    for (const char* entry : {"e1", "e2"})
        EXPECT(p.a.acquire(again("lock", "a:1", entry)).reply.result == granted_t::granted);
    EXPECT(p.release_by(p.a, "a:1", "e1") == released_t::still_held);
    const renewal all[] = {{"lock", "a:1", 10s, "e1"},
                           {"lock", "a:1", 10s},
                           {"lock", "a:1", 10s, "e2"},
                           {"lock", "b:1", 10s, "e2"}};
    const std::vector<renewal_result> expected{renewal_result::gone, renewal_result::renewed,
                                               renewal_result::renewed, renewal_result::gone};
    EXPECT(p.a.renew(all).reply.results == expected);
}

// A batch of renewals in which only a few locks have reentrant acquisitions.
void reentrant_acquisition_is_renewed_in_a_batch(pair& p)
{
    for (const char* name : {"one", "two", "three"})
        p.acquire_by(p.a, "a:1", name);
    EXPECT(p.a.acquire(again("two", "a:1", "e")).reply.result == granted_t::granted);
    const renewal all[] = {
        {"one", "a:1", 60s}, {"two", "a:1", 60s}, {"three", "b:1", 60s}, {"three", "a:1", 60s}};
    const std::vector<renewal_result> expected{renewal_result::renewed, renewal_result::renewed,
                                               renewal_result::gone, renewal_result::renewed};
    EXPECT(p.a.renew(all).reply.results == expected);
    for (const char* name : {"one", "two", "three"})
        EXPECT(is_left(p, name, 50s));
    const renewal reentered[] = {{"two", "a:1", 60s, "e"}};
    EXPECT(p.a.renew(reentered).reply.results.at(0) == renewal_result::renewed);
}

void release_notifies_the_watchers(pair& p)
{
    p.b.watch("lock");
    p.b.wait_for_wakeups(1); // the watch is in effect
    p.acquire_by(p.a, "a:1");
    const auto freed = p.a.release({.name = "lock", .owner = "a:1", .entry = {}});
    EXPECT(freed.reply.result == released_t::freed);
    EXPECT(freed.reply.receivers == 1u);
    p.b.wait_for_wakeups(2);
    EXPECT(p.b.wakeups.back() == "lock");
    EXPECT(p.a.wakeups.empty());
}

void release_notifies_its_own_client_if_it_watches(pair& p)
{
    p.a.watch("lock");
    p.b.watch("lock");
    p.b.watch("lock"); // a second call has no effect
    p.a.wait_for_wakeups(1);
    p.b.wait_for_wakeups(1);
    p.acquire_by(p.a, "a:1");
    const auto freed = p.a.release({.name = "lock", .owner = "a:1", .entry = {}});
    EXPECT(freed.reply.receivers == 2u);
    p.a.wait_for_wakeups(2);
    p.b.wait_for_wakeups(2);
}

void only_a_release_that_frees_the_lock_notifies(pair& p)
{
    p.b.watch("lock");
    p.b.wait_for_wakeups(1);
    p.acquire_by(p.a, "a:1");
    p.a.acquire(again("lock", "a:1", "e"));
    EXPECT(p.a.release({.name = "lock", .owner = "x:1", .entry = {}}).reply.receivers == 0u);
    EXPECT(p.a.release({.name = "lock", .owner = "a:1", .entry = "e"}).reply.receivers == 0u);
    p.acquire_by(p.a, "a:2", "other");
    EXPECT(p.a.release({.name = "other", .owner = "a:2", .entry = {}}).reply.receivers == 0u);
    // A wake-up by these would come before the one that ends the wait.
    p.release_by(p.a, "a:1");
    p.b.wait_for_wakeups(2);
    EXPECT(p.b.wakeups.size() == 2u);
}

void unwatched_name_gets_no_wakeup(pair& p)
{
    p.b.watch("lock");
    p.b.wait_for_wakeups(1);
    p.b.unwatch("lock");
    p.b.unwatch("never watched");
    // The end of a watch has no event; repeated until it is in effect.
    for (int i = 0;; ++i) {
        p.acquire_by(p.a, "a:" + std::to_string(i));
        const std::string owner = "a:" + std::to_string(i);
        if (p.a.release({.name = "lock", .owner = owner, .entry = {}}).reply.receivers == 0)
            break;
        EXPECT(i < 1000);
    }
    p.b.watch("lock");
    const std::size_t before = p.b.wakeups.size();
    p.b.wait_for_wakeups(before + 1);
}

void any_bytes_make_a_name(pair& p)
{
    using namespace std::string_literals;
    for (const std::string& name : {"a{b}c"s, "{"s, "}"s, "{}x"s, "nul\0nul"s, "line\r\nline"s,
                                    "\xff\xfe"s, " "s, ":"s, std::string(4096, 'n')}) {
        EXPECT(p.acquire_by(p.a, "a:1", name) == granted_t::granted);
        EXPECT(p.acquire_by(p.b, "b:1", name) == granted_t::held);
        const release_request leaving{.name = name, .owner = "a:1", .entry = {}};
        if (!p.traits.publishes) {
            EXPECT(p.a.release(leaving).reply.result == released_t::freed);
            continue;
        }
        p.b.watch(name);
        p.b.wait_for_wakeups(1);
        EXPECT(p.a.release(leaving).reply.receivers == 1u);
        p.b.wait_for_wakeups(2);
        EXPECT(p.b.wakeups.back() == name);
        p.b.unwatch(name);
        p.b.wakeups.clear();
    }
}

void after_close_nothing_is_executed_and_all_is_answered(pair& p)
{
    p.acquire_by(p.a, "a:1");
    if (p.traits.publishes) {
        p.a.watch("lock");
        p.a.wait_for_wakeups(1);
    }
    p.a.close();
    const auto refused = p.a.release({.name = "lock", .owner = "a:1", .entry = {}});
    EXPECT(refused.code == condition::store_fault);
    EXPECT(p.a.acquire(take("lock", "a:1")).code == condition::store_fault);
    if (p.traits.session) {
        p.lab.wait_for_ended_clients();
    }
    else {
        EXPECT(p.acquire_by(p.b, "b:1") == granted_t::held);
        p.lab.erase("lock");
    }
    p.acquire_by(p.b, "b:1");
    const std::size_t before = p.a.wakeups.size();
    p.release_by(p.b, "b:1");
    p.context.poll();
    EXPECT(p.a.wakeups.size() == before);
}

void outstanding_request_is_answered_at_close(pair& p)
{
    int answers = 0;
    p.a.on_the_strand([&] {
        for (const char* name : {"one", "two", "three"})
            p.a.get().async_acquire(take(name, "a:1"),
                                    [&](error_code, acquire_reply) { ++answers; });
    });
    p.a.close();
    p.a.until([&] { return answers == 3; });
}

#define CASE(name)                                                                                 \
    contract_case                                                                                  \
    {                                                                                              \
        #name, &run<&name>                                                                         \
    }

#define CASE_IF(trait, name)                                                                       \
    contract_case                                                                                  \
    {                                                                                              \
        #name, &run<&name, &store_traits::trait>                                                   \
    }

#define CASE_WITH_TTL(name)                                                                        \
    contract_case                                                                                  \
    {                                                                                              \
        #name, &run<&without_session<&name>>                                                       \
    }

#define QUEUE_CASE_WITH_TTL(name)                                                                  \
    contract_case                                                                                  \
    {                                                                                              \
        #name, &run<&without_session<&with_queue<&name>>, &store_traits::queues>                   \
    }

#define QUEUE_CASE(name)                                                                           \
    contract_case                                                                                  \
    {                                                                                              \
        #name, &run<&with_queue<&name>, &store_traits::queues>                                     \
    }

constexpr std::array cases{
    CASE(a_name_is_in_a_partition_that_connects),
    CASE(one_owner_at_a_time),
    CASE(completes_on_the_strand_and_never_inside_the_call),
    CASE(repeated_acquire_counts_once_and_gets_no_fence_of_another_owner),
    CASE(fences_come_in_blocks_that_do_not_overlap),
    CASE(fences_rise_also_when_the_data_is_lost),
    CASE_WITH_TTL(a_lease_expires),
    CASE_IF(session, end_of_a_session_frees_its_locks),
    CASE_IF(session, lease_of_a_session_is_renewed),
    CASE_IF(session, lost_lock_of_a_session_is_reported),
    CASE_IF(rejects_late, late_acquire_is_rejected),
    CASE(renewal_extends_a_lease_and_never_shortens_it),
    CASE(renewals_are_answered_in_order_and_create_nothing),
    CASE(deleted_lock_is_not_created_by_a_renewal),
    CASE(reentrant_acquisition_counts_once),
    CASE(unknown_reentrant_acquisition_is_not_renewed),
    CASE(reentrant_acquisition_is_renewed_in_a_batch),
    CASE_IF(publishes, release_notifies_the_watchers),
    CASE_IF(publishes, release_notifies_its_own_client_if_it_watches),
    CASE_IF(publishes, only_a_release_that_frees_the_lock_notifies),
    CASE_IF(publishes, unwatched_name_gets_no_wakeup),
    QUEUE_CASE(released_lock_is_granted_to_the_first_waiter),
    QUEUE_CASE(waiter_that_joins_again_keeps_its_position),
    QUEUE_CASE(grant_is_a_claim_until_an_acquire_confirms_it),
    QUEUE_CASE_WITH_TTL(unconfirmed_grant_expires),
    QUEUE_CASE(free_lock_is_granted_to_the_first_waiter_only),
    QUEUE_CASE(waiter_that_left_the_queue_is_not_granted_the_lock),
    QUEUE_CASE_WITH_TTL(leaving_waiter_grants_an_expired_lock_to_the_next),
    QUEUE_CASE_WITH_TTL(expired_waiter_is_skipped),
    QUEUE_CASE(waiter_of_an_ended_client_is_skipped),
    QUEUE_CASE(next_owner_joins_in_the_same_step),
    QUEUE_CASE(next_owner_gets_the_lock_if_the_queue_is_empty),
    QUEUE_CASE(release_without_effect_enqueues_no_next_owner),
    QUEUE_CASE(late_next_owner_does_not_join),
    QUEUE_CASE(waiters_wait_for_each_reentrant_acquisition),
    QUEUE_CASE(external_time_keeps_the_positions),
    QUEUE_CASE(next_owner_gets_the_lock_after_the_external_time),
    CASE(any_bytes_make_a_name),
    CASE(after_close_nothing_is_executed_and_all_is_answered),
    CASE(outstanding_request_is_answered_at_close),
};

#undef QUEUE_CASE
#undef QUEUE_CASE_WITH_TTL
#undef CASE_WITH_TTL
#undef CASE_IF
#undef CASE
#undef EXPECT

} // namespace

std::span<const contract_case> store_contract() noexcept
{
    return cases;
}

} // namespace leasehold::testing
