#include "model/grace/state.hpp"
#include "model/small_model.hpp"

#include <string>
#include <vector>

namespace {

using namespace leasehold::test::grace_model;
using runs = std::vector<leasehold::test::model::search_run<setting>>;

constexpr const char* usage = R"(grace_model [OPTION...]
Visits every state of two or three clients with dead_holder_grace that supersede each other.
Requests, heartbeats and their replies are late or lost, clients die, and the server restarts from
an earlier snapshot.
  --quick       only the searches that take seconds
  --deep        also the searches that take some GB
  --searches    only the searches; --errors: only the deliberate errors
  --trace       prints the steps that lead to each error
  --most N      ends a search after N states
)";

runs searches()
{
    return {
        {"1 acquire each", {.acquires = 1, .faults = 0}, 1},
        {"1 acquire each, 1 fault, one name", {.acquires = 1, .faults = 1, .others = false}},
        {"1 acquire each, entries, one name",
         {.acquires = 1, .faults = 0, .entries = true, .others = false}},
        {"1 acquire each, 1 fault, with and without the promise, one name",
         {.acquires = 1, .faults = 1, .others = false, .mixed = true},
         1},
        {"1 acquire each, 1 late request, with and without the promise, one name",
         {.acquires = 1, .faults = 1, .others = false, .mixed = true, .late = true},
         1},
        {"2 acquires each, one name", {.faults = 0, .others = false}, 1},
        {"1 acquire each, 1 fault, restarts, one name",
         {.acquires = 1, .faults = 1, .others = false, .restarts = true},
         2},
        {"1 acquire each, entries", {.acquires = 1, .faults = 0, .entries = true}, 1},
        {"1 acquire each, 1 fault", {.acquires = 1, .faults = 1}, 2},
        {"2 acquires each, entries, one name", {.faults = 0, .entries = true, .others = false}, 2},
        {"2 acquires each", {.faults = 0}, 2},
    };
}

runs errors()
{
    return {
        {"promise_not_kept: the lease time alone counts",
         {.faults = 0, .others = false, .wrong = mistake::promise_not_kept}},
        {"sign_from_answer: a heartbeat counts from its reply",
         {.faults = 0, .others = false, .wrong = mistake::sign_from_answer}},
        {"grant_from_answer: the promise counts from the grant",
         {.faults = 0, .others = false, .wrong = mistake::grant_from_answer}},
        {"late_sign_for_grant: a sign counts for a grant that is read too late",
         {.faults = 0, .wrong = mistake::late_sign_for_grant}},
        {"acquire_not_recorded: an acquire grants and makes no record",
         {.faults = 2, .others = false, .wrong = mistake::acquire_not_recorded}},
        {"sign_not_recorded: a sign is confirmed and not kept",
         {.faults = 0, .others = false, .wrong = mistake::sign_not_recorded}},
        {"lapse_revived: a late sign brings a lapsed lease back",
         {.faults = 0, .others = false, .wrong = mistake::lapse_revived}},
        {"half_grace: a waiter counts half of the grace",
         {.faults = 0, .others = false, .wrong = mistake::half_grace}},
        {"absent_is_dead: a missing record is taken for an old one",
         {.faults = 1, .others = false, .wrong = mistake::absent_is_dead}},
        {"other_run_believed: a record from before a restart counts",
         {.faults = 1, .others = false, .restarts = true, .wrong = mistake::other_run_believed}},
        {"polls_renew: every look makes the record new",
         {.acquires = 3, .faults = 1, .others = false, .wrong = mistake::polls_renew}},
        {"no_record_by_poll: a look that finds no record makes none",
         {.acquires = 3, .faults = 2, .others = false, .wrong = mistake::no_record_by_poll}},
        {"one_record_for_all: clients share a record",
         {.acquires = 3, .faults = 2, .others = false, .wrong = mistake::one_record_for_all},
         1},
        {"plain_superseded: an owner without the promise is superseded",
         {.faults = 0, .entries = true, .others = false, .wrong = mistake::plain_superseded}},
        {"entry_keeps_promise: an entry leaves the mark of the promise",
         {.faults = 0, .entries = true, .others = false, .wrong = mistake::entry_keeps_promise}},
        {"promise_inherited: an owner asks again without it, and the mark of the promise stays",
         {.faults = 1, .others = false, .mixed = true, .wrong = mistake::promise_inherited}},
        {"late_promise_forgotten: an owner asks without it, and what it asked with it runs later",
         {.faults = 1,
          .others = false,
          .mixed = true,
          .late = true,
          .wrong = mistake::late_promise_forgotten}},
        {"superseded_in_two: a waiter looks, and removes what is there then",
         {.faults = 0, .others = false, .wrong = mistake::superseded_in_two}},
        {"superseded_in_two: two waiters, and the successor of one",
         {.clients = 3,
          .acquires = 1,
          .faults = 0,
          .others = false,
          .wrong = mistake::superseded_in_two},
         2},
        {"removed_by_prefix: it removes what begins as what it has seen",
         {.faults = 0, .others = false, .wrong = mistake::removed_by_prefix}},
    };
}

std::string words_of(const step& made)
{
    const std::string who = made.who < 0 ? "world" : "client " + std::to_string(made.who);
    return who + ": " + made.what + ' ' + made.about;
}

} // namespace

int main(int argc, char** argv)
{
    const leasehold::test::model::small_model<setting, step> all{
        .usage = usage,
        .title = "dead holder: search",
        .width = 75,
        .most = 100'000'000,
        .searches = searches(),
        .errors = errors(),
        .words = &words_of,
    };
    return leasehold::test::model::run(all, argc, argv);
}
