#include "model/quorum/state.hpp"

#include "support/command_line.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace leasehold::test::quorum_model;

constexpr const char* usage = R"(quorum_model [OPTION...]
Every state that a quorum of three members can come to, with two clients that each lock a name
twice: requests and answers are lost or late, holds end, members forget all they have, or restart,
and are made members again.
  --quick       the searches that take seconds
  --deep        also those that take some GB
  --searches    only these; --errors: only the deliberate errors
  --trace       the way to each error
  --most N      states at most
)";

struct search_run
{
    const char* name;
    setting g;
    int effort; ///< 0 quick, 1 usual, 2 deep.
};

const std::vector<search_run>& searches()
{
    static const std::vector<search_run> all{
        {"1 + 1 acquires", {.timed = false}, 0},
        {"1 + 1, with leases", {.timed = true}, 0},
        {"2 + 1", {.acquires = {2, 1}, .timed = false}, 1},
        {"1 + 1, one member forgets", {.forgets = 1, .timed = false}, 2},
        {"1 + 1, one member restarts", {.restarts = 1, .timed = false}, 2},
        {"1 + 1, all members begin as strangers", {.timed = false, .anew = true}, 2},
        {"1 + 1, one member forgets, with leases", {.forgets = 1, .timed = true}, 2},
        {"2 + 1, with leases", {.acquires = {2, 1}, .timed = true}, 2},
        {"2 + 2", {.acquires = {2, 2}, .timed = false}, 2},
    };
    return all;
}

struct error_run
{
    const char* name;
    setting g;
    int effort = 0;
};

const std::vector<error_run>& errors()
{
    static const std::vector<error_run> all{
        {"each member counts by itself", {.timed = false, .wrong = mistake::each_counts}},
        {"equal fences are accepted", {.timed = false, .wrong = mistake::equal_is_accepted}},
        {"the largest is taken without a second round",
         {.timed = false, .wrong = mistake::largest_is_taken}},
        {"one member is enough", {.timed = false, .wrong = mistake::minority_grants}},
        {"one member is enough, with leases", {.timed = true, .wrong = mistake::minority_grants}},
        {"the others adopt no epoch", {.forgets = 1, .timed = false, .wrong = mistake::no_epoch}},
        {"a new member begins at nothing",
         {.forgets = 1, .timed = false, .wrong = mistake::nothing_read}},
        {"requests of older epochs are served",
         {.forgets = 1, .timed = false, .wrong = mistake::older_epochs_served}},
        {"strangers grant", {.forgets = 1, .timed = false, .wrong = mistake::strangers_grant}},
        {"a new member is not silent",
         {.forgets = 1, .timed = true, .wrong = mistake::no_silence},
         2},
        {"the deadline counts from the answer",
         {.timed = true, .wrong = mistake::deadline_from_reply}},
        {"members do not look who holds the lock",
         {.timed = true, .wrong = mistake::holds_not_looked_at}},
        {"the second round does not ask whose the lock is",
         {.acquires = {2, 1}, .timed = true, .wrong = mistake::raised_for_others},
         2},
        {"answers to the acquire before count",
         {.acquires = {2, 1}, .timed = true, .wrong = mistake::earlier_answers}},
        {"what was written for a member before it forgot is taken",
         {.forgets = 2, .timed = false, .wrong = mistake::nonce_ignored},
         2},
        {"one look at strangers is enough",
         {.forgets = 1, .timed = false, .anew = true, .wrong = mistake::one_look_is_enough},
         2},
    };
    return all;
}

void print_way(const outcome& o)
{
    for (const step& each : o.path) {
        std::string text = "      ";
        if (each.where >= 0)
            text += "member " + std::to_string(each.where) + " ";
        text += each.what;
        if (each.who >= 0)
            text += each.where >= 0 ? " by acquire " + std::to_string(each.who)
                                    : " (" + std::to_string(each.who) + ")";
        std::printf("%s\n", text.c_str());
    }
}

outcome timed_search(const setting& g, std::uint64_t most, double& seconds)
{
    using clock = std::chrono::steady_clock;
    const auto began = clock::now();
    auto said = began;
    outcome out = search(g, most, [&](std::uint64_t states) {
        if (clock::now() - said < std::chrono::seconds(20))
            return;
        said = clock::now();
        std::printf("    %llu states\n", static_cast<unsigned long long>(states));
        std::fflush(stdout);
    });
    seconds = std::chrono::duration<double>(clock::now() - began).count();
    return out;
}

void print_row(const char* name, const outcome& o, double seconds, const std::string& result)
{
    std::printf("%-58s %10llu %11llu %6.1f  %s\n", name, static_cast<unsigned long long>(o.states),
                static_cast<unsigned long long>(o.transitions), seconds, result.c_str());
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv)
{
    int effort = 1;
    bool run_searches = true;
    bool run_errors = true;
    bool trace = false;
    std::uint64_t most = 400'000'000;
    try {
        leasehold::test::command_line()
            .flag("--quick", [&] { effort = 0; })
            .flag("--deep", [&] { effort = 2; })
            .flag("--searches", [&] { run_errors = false; })
            .flag("--errors", [&] { run_searches = false; })
            .flag("--trace", trace)
            .number("--most", most)
            .flag("--help",
                  [] {
                      std::cout << usage;
                      std::exit(0);
                  })
            .read(argc, argv);
        bool good = true;
        double seconds = 0;
        std::printf("%-58s %10s %11s %6s  %s\n", "quorum: search", "states", "transitions", "s",
                    "result");
        for (const search_run& each : searches()) {
            if (!run_searches || each.effort > effort)
                continue;
            const outcome o = timed_search(each.g, most, seconds);
            print_row(each.name, o, seconds,
                      o.complete        ? "nothing is wrong"
                      : o.found.empty() ? "cut off"
                                        : "FOUND: " + o.found);
            print_way(o);
            good = good && o.complete;
        }
        unsigned found = 0;
        unsigned missed = 0;
        for (const error_run& each : errors()) {
            if (!run_errors || each.effort > effort)
                continue;
            const outcome o = timed_search(each.g, most, seconds);
            (o.found.empty() ? missed : found) += 1;
            print_row(each.name, o, seconds, o.found.empty() ? "NOT FOUND" : o.found);
            if (trace)
                print_way(o);
        }
        if (run_errors)
            std::printf("%u errors found, %u not\n", found, missed);
        return good && missed == 0 ? 0 : 1;
    }
    catch (const std::exception& failed) {
        std::cerr << "error: " << failed.what() << '\n';
        return 2;
    }
}
