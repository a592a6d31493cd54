#include "model/lease/state.hpp"
#include "model/small_model.hpp"

#include <string>
#include <vector>

namespace {

using namespace leasehold::test::lease_model;
using runs = std::vector<leasehold::test::model::search_run<setting>>;

constexpr const char* usage = R"(lease_model [OPTION...]
Visits every state of a lease in a quorum of three members, two of which have granted it. Members
become unreachable, return, or lose their data. Requests are late, and replies are lost.
  --quick       only the searches that take seconds
  --deep        also the searches that take some GB
  --searches    only the searches; --errors: only the deliberate errors
  --trace       prints the steps that lead to each error
  --most N      ends a search after N states
)";

runs searches()
{
    return {
        {"no other member fails", {.failures = 0}},
        {"one more member fails", {.failures = 1}},
        {"two more fail, one after the other", {.failures = 2}, 1},
        {"one more fails, a reply is lost", {.failures = 1, .losses = 1}, 1},
        {"one more fails, one forgets", {.failures = 1, .forgets = 1}, 2},
    };
}

runs errors()
{
    return {
        {"the granting members are not recorded", {.wrong = mistake::grant_not_remembered}},
        {"a member that gets the lock does not count", {.wrong = mistake::creation_not_counted}},
        {"a member that forgot is not silent", {.forgets = 1, .wrong = mistake::no_silence}},
        {"the deadline counts from the reply", {.wrong = mistake::deadline_from_answer}},
    };
}

std::string words_of(const step& made)
{
    return made.where < 0 ? std::string(made.what)
                          : "member " + std::to_string(made.where) + " " + made.what;
}

} // namespace

int main(int argc, char** argv)
{
    const leasehold::test::model::small_model<setting, step> all{
        .usage = usage,
        .title = "lease at a quorum: search",
        .width = 58,
        .most = 400'000'000,
        .searches = searches(),
        .errors = errors(),
        .words = &words_of,
    };
    return leasehold::test::model::run(all, argc, argv);
}
