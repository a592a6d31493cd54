#ifndef LEASEHOLD_SRC_TESTING_LINE_CONTRACT_HPP
#define LEASEHOLD_SRC_TESTING_LINE_CONTRACT_HPP

#include "testing/contract_pair.hpp"

/// The contract of a store with a queue; other stores are not tested.
namespace leasehold::testing::contract::line {

/// Runs a case with two clients that receive their grants.
void begin(pair& p);
template <void (*Body)(pair&)>
void in_line(pair& p)
{
    begin(p);
    Body(p);
}

void a_lock_that_is_left_goes_to_the_first_in_line(pair& p);
void who_joins_again_keeps_its_place(pair& p);
void a_turn_is_a_claim_until_an_acquire_confirms_it(pair& p);
void who_does_not_claim_its_turn_loses_it(pair& p);
void nobody_takes_a_free_lock_past_the_line(pair& p);
void who_has_left_the_line_is_not_given_the_lock(pair& p);
void leaving_the_line_of_an_expired_lock_passes_it_on(pair& p);
void who_is_not_there_is_passed_over(pair& p);
void who_has_gone_is_passed_over(pair& p);
void the_next_owner_joins_in_the_same_step(pair& p);
void the_next_owner_has_it_when_nobody_waits(pair& p);
void a_release_that_leaves_nothing_brings_nobody_in(pair& p);
void a_next_owner_after_its_budget_does_not_join(pair& p);
void those_in_line_wait_for_every_entry(pair& p);
void a_foreign_turn_costs_nobody_its_place(pair& p);
void the_next_owner_has_it_after_the_foreign_turn(pair& p);

} // namespace leasehold::testing::contract::line

#endif
