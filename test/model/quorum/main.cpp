#include "model/quorum/state.hpp"
#include "model/small_model.hpp"

#include <string>
#include <vector>

namespace {

using namespace leasehold::test::quorum_model;
using runs = std::vector<leasehold::test::model::search_run<setting>>;

constexpr const char* usage = R"(quorum_model [OPTION...]
Visits every state of a quorum of three members and two clients that each lock a name twice.
Requests and replies are lost or late, and leases expire. Members lose their data or restart, and
rejoin.
  --quick       only the searches that take seconds
  --deep        also the searches that take some GB
  --searches    only the searches; --errors: only the deliberate errors
  --trace       prints the steps that lead to each error
  --most N      ends a search after N states
)";

runs searches()
{
    return {
        {"1 + 1 acquires", {.timed = false}, 0},
        {"1 + 1, with leases", {.timed = true}, 0},
        {"2 + 1", {.acquires = {2, 1}, .timed = false}, 1},
        {"1 + 1, one member forgets", {.forgets = 1, .timed = false}, 2},
        {"1 + 1, one member restarts", {.restarts = 1, .timed = false}, 2},
        {"1 + 1, all servers begin blank", {.timed = false, .anew = true}, 2},
        {"1 + 1, one member forgets, with leases", {.forgets = 1, .timed = true}, 2},
        {"2 + 1, with leases", {.acquires = {2, 1}, .timed = true}, 2},
        {"2 + 2", {.acquires = {2, 2}, .timed = false}, 2},
    };
}

runs errors()
{
    return {
        {"each member has its own counter", {.timed = false, .wrong = mistake::each_counts}},
        {"equal fences are accepted", {.timed = false, .wrong = mistake::equal_is_accepted}},
        {"the largest is taken without a second round",
         {.timed = false, .wrong = mistake::largest_is_taken}},
        {"one member is enough", {.timed = false, .wrong = mistake::minority_grants}},
        {"one member is enough, with leases", {.timed = true, .wrong = mistake::minority_grants}},
        {"the others adopt no epoch", {.forgets = 1, .timed = false, .wrong = mistake::no_epoch}},
        {"a new member begins at zero",
         {.forgets = 1, .timed = false, .wrong = mistake::nothing_read}},
        {"requests of older epochs are served",
         {.forgets = 1, .timed = false, .wrong = mistake::older_epochs_served}},
        {"blank servers grant",
         {.forgets = 1, .timed = false, .wrong = mistake::blank_servers_grant}},
        {"a new member is not silent",
         {.forgets = 1, .timed = true, .wrong = mistake::no_silence},
         2},
        {"the deadline counts from the reply",
         {.timed = true, .wrong = mistake::deadline_from_reply}},
        {"members ignore the holder of the lock",
         {.timed = true, .wrong = mistake::holds_not_looked_at}},
        {"the second round ignores the owner",
         {.acquires = {2, 1}, .timed = true, .wrong = mistake::raised_for_others},
         2},
        {"replies to the previous acquire count",
         {.acquires = {2, 1}, .timed = true, .wrong = mistake::earlier_answers}},
        {"data written before a member forgot is used",
         {.forgets = 2, .timed = false, .wrong = mistake::nonce_ignored},
         2},
        {"one read of blank servers is enough",
         {.forgets = 1, .timed = false, .anew = true, .wrong = mistake::one_poll_is_enough},
         2},
        {"seeds do not name the new members",
         {.timed = false, .anew = true, .wrong = mistake::beginning_not_kept}},
        {"missing seeds are sent although members forgot",
         {.forgets = 2, .timed = false, .anew = true, .wrong = mistake::beginning_ignored},
         2},
    };
}

std::string words_of(const step& made)
{
    std::string text;
    if (made.where >= 0)
        text += "member " + std::to_string(made.where) + " ";
    text += made.what;
    if (made.who >= 0)
        text += made.where >= 0 ? " by acquire " + std::to_string(made.who)
                                : " (" + std::to_string(made.who) + ")";
    return text;
}

} // namespace

int main(int argc, char** argv)
{
    const leasehold::test::model::small_model<setting, step> all{
        .usage = usage,
        .title = "quorum: search",
        .width = 58,
        .most = 400'000'000,
        .searches = searches(),
        .errors = errors(),
        .words = &words_of,
    };
    return leasehold::test::model::run(all, argc, argv);
}
