#ifndef LEASEHOLD_SRC_TESTING_CONTRACT_QUEUE_CONTRACT_HPP
#define LEASEHOLD_SRC_TESTING_CONTRACT_QUEUE_CONTRACT_HPP

#include "testing/contract/contract_pair.hpp"

/// The contract of a store with a queue; other stores are not tested.
namespace leasehold::testing::contract::queue {

/// Runs a case with two clients that receive their grants.
void begin(pair& p);
template <void (*Body)(pair&)>
void with_queue(pair& p)
{
    begin(p);
    Body(p);
}

void released_lock_is_granted_to_the_first_waiter(pair& p);
void waiter_that_joins_again_keeps_its_position(pair& p);
void grant_is_a_claim_until_an_acquire_confirms_it(pair& p);
void unconfirmed_grant_expires(pair& p);
void free_lock_is_granted_to_the_first_waiter_only(pair& p);
void waiter_that_left_the_queue_is_not_granted_the_lock(pair& p);
void leaving_waiter_grants_an_expired_lock_to_the_next(pair& p);
void expired_waiter_is_skipped(pair& p);
void waiter_of_an_ended_client_is_skipped(pair& p);
void next_owner_joins_in_the_same_step(pair& p);
void next_owner_gets_the_lock_if_the_queue_is_empty(pair& p);
void release_without_effect_enqueues_no_next_owner(pair& p);
void late_next_owner_does_not_join(pair& p);
void waiters_wait_for_each_reentrant_acquisition(pair& p);
void external_time_keeps_the_positions(pair& p);
void next_owner_gets_the_lock_after_the_external_time(pair& p);

} // namespace leasehold::testing::contract::queue

#endif
