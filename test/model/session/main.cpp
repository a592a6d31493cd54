#include "model/session/state.hpp"
#include "model/small_model.hpp"

#include <string>
#include <vector>

namespace {

using namespace leasehold::test::session_model;
using runs = std::vector<leasehold::test::model::search_run<setting>>;

constexpr const char* usage = R"(session_model [OPTION...]
Visits every state of a ZooKeeper session whose client is connected to a follower. All messages
between follower and leader may be late.
  --quick       only the searches that take seconds
  --searches    only the searches; --errors: only the deliberate errors
  --trace       prints the steps that lead to each error
  --most N      ends a search after N states
)";

runs searches()
{
    return {
        {"the leader pings at even times", {.phase = 0}},
        {"the leader pings at odd times", {.phase = 1}},
        {"and the client reconnects", {.reconnects = 1}, 1},
    };
}

runs errors()
{
    return {
        {"the answer to a ping counts by itself", {.wrong = mistake::pings_believed}},
        {"a write counts from its sending", {.wrong = mistake::counted_from_write}},
        {"a ping counts without half a tick", {.wrong = mistake::no_delay}},
        {"one request is enough", {.wrong = mistake::one_step}},
        {"a ping counts from its answer", {.wrong = mistake::counted_from_answer}},
    };
}

} // namespace

int main(int argc, char** argv)
{
    const leasehold::test::model::small_model<setting, step> all{
        .usage = usage,
        .title = "lease of a session: search",
        .width = 40,
        .most = 100'000'000,
        .searches = searches(),
        .errors = errors(),
        .words = [](const step& made) { return std::string(made.what); },
    };
    return leasehold::test::model::run(all, argc, argv);
}
