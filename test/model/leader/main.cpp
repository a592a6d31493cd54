#include "model/leader/state.hpp"
#include "model/small_model.hpp"

#include <string>
#include <vector>

namespace {

using namespace leasehold::test::leader_model;
using runs = std::vector<leasehold::test::model::search_run<setting>>;

constexpr const char* usage = R"(leader_model [OPTION...]
Visits every state of a lease in etcd while leaders are deposed and end leases, and the member of
the client detects that late.
  --quick       only the searches that take seconds
  --searches    only the searches; --errors: only the deliberate errors
  --trace       prints the steps that lead to each error
  --most N      ends a search after N states
)";

runs searches()
{
    return {
        {"two elections", {}},
        {"and the client reconnects", {.elections = 1, .reconnects = 1}},
        {"two elections, two connections", {.elections = 2, .reconnects = 2}, 1},
    };
}

runs errors()
{
    return {
        {"the answer to a keep-alive counts by itself", {.wrong = mistake::not_confirmed_after}},
        {"no reply before the keep-alive",
         {.reconnects = 1, .wrong = mistake::not_confirmed_before}},
        {"the replies are of two members", {.reconnects = 1, .wrong = mistake::other_member}},
        {"a keep-alive counts from its answer", {.wrong = mistake::counted_from_answer}},
        {"the request precedes the answer", {.wrong = mistake::asked_too_early}},
        {"keep-alives count in later terms", {.wrong = mistake::kept_in_later_term}},
        {"the grant is of an earlier term", {.wrong = mistake::granted_in_election}},
        {"the new lease counts before the move", {.wrong = mistake::not_moved_yet}},
        {"the key had ended before the move", {.reconnects = 1, .wrong = mistake::not_moved}},
    };
}

} // namespace

int main(int argc, char** argv)
{
    const leasehold::test::model::small_model<setting, step> all{
        .usage = usage,
        .title = "lease of etcd: search",
        .width = 44,
        .most = 100'000'000,
        .searches = searches(),
        .errors = errors(),
        .words = [](const step& made) { return std::string(made.what); },
    };
    return leasehold::test::model::run(all, argc, argv);
}
