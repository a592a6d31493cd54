// Searches the states of the protocol, or shows that the deliberate errors are found.
#include "model/runs.hpp"
#include "model/search.hpp"
#include "model/timeline.hpp"
#include "support/command_line.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <unistd.h>

using namespace leasehold::test::model;

namespace {

constexpr char usage[] =
    R"(usage: model [--quick | --deep] [--searches | --errors] [--only NAME] [--trace] [--smaller]
       model --run "OPTION..." [--most N]

Visits every state that the protocol of the native layout can reach, with a few clients and faults,
and checks its promises. Then switches deliberate errors on, one after the other, and checks that
each is found.

  --quick      small searches only, and the errors
  --deep       large searches too: half an hour, some GB
  --searches   only the searches
  --errors     only the deliberate errors
  --only NAME  one error
  --trace      prints the steps that lead to each violation
  --smaller    checks whether smaller searches find the errors, too
  --run        one search, with the options of the tables: "clients=2 attempts=2 faults=1 joins"
  --most N     ends a search after N states (60000000)
)";

struct arguments
{
    effort most_effort = effort::normal;
    bool searches = true;
    bool errors = true;
    bool trace = false;
    bool smaller = false;
    std::string only;
    std::optional<setting> run;
    std::uint64_t most = 60'000'000;
};

setting parse_setting(std::string_view text)
{
    setting g;
    while (!text.empty()) {
        const auto end = std::min(text.find(' '), text.size());
        if (end > 0 && !set(g, std::string(text.substr(0, end))))
            throw std::invalid_argument("unknown option " + std::string(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (g.clients < 1 || g.clients > 3 || g.attempts < 1 || g.attempts > 3)
        throw std::invalid_argument("there are one to three clients and attempts");
    return g;
}

[[noreturn]] void print_usage()
{
    std::cout << usage;
    std::exit(0);
}

arguments parse(int argc, char** argv)
{
    arguments out;
    leasehold::test::command_line()
        .flag("--quick", [&] { out.most_effort = effort::quick; })
        .flag("--deep", [&] { out.most_effort = effort::deep; })
        .flag("--searches", [&] { out.errors = false; })
        .flag("--errors", [&] { out.searches = false; })
        .flag("--trace", out.trace)
        .flag("--smaller", out.smaller)
        .value("--only",
               [&](const std::string& name) {
                   const auto all = error_runs();
                   if (std::none_of(all.begin(), all.end(),
                                    [&](const error_run& each) { return each.name == name; }))
                       throw leasehold::test::bad_argument("--only", name,
                                                           "one of those that --errors lists");
                   out.only = name;
                   out.searches = false;
               })
        .value("--run", [&](const std::string& text) { out.run = parse_setting(text); })
        .number("--most", out.most)
        .flag("--help", print_usage)
        .read(argc, argv);
    return out;
}

double now()
{
    using clock = std::chrono::steady_clock;
    return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

unsigned long long number(std::uint64_t value)
{
    return value;
}

/// Searches, and shows the progress on a terminal.
outcome watched_search(const setting& g, std::uint64_t most)
{
    const bool terminal = isatty(1) != 0;
    double said = now();
    const auto notify = [&](const progress& each) {
        if (now() - said < (terminal ? 1 : 20))
            return;
        said = now();
        std::printf("%s  %11llu states, %11llu explored, %12llu transitions, %5llu MB%s",
                    terminal ? "\r" : "", number(each.states), number(each.explored),
                    number(each.transitions), number(each.memory >> 20), terminal ? "" : "\n");
        std::fflush(stdout);
    };
    outcome out = search(g, most, notify);
    if (terminal)
        std::printf("\r\033[K");
    return out;
}

void print_row(const std::string& left, const outcome& o, double seconds, const std::string& right)
{
    std::printf("%-62s %10llu %11llu %5llu %6.1f  %s\n", left.c_str(), number(o.states),
                number(o.transitions), number(o.memory >> 20), seconds, right.c_str());
    std::fflush(stdout);
}

void print_head(const char* left, const char* right)
{
    std::printf("%-62s %10s %11s %5s %6s  %s\n", left, "states", "transitions", "MB", "s", right);
}

bool run_search(const setting& g, std::uint64_t most)
{
    const double began = now();
    const outcome o = watched_search(g, most);
    const char* const ends[] = {"nothing is wrong", "FOUND", "cut off"};
    print_row(to_text(g), o, now() - began, ends[static_cast<std::size_t>(o.how)]);
    if (o.how == outcome::end::found)
        std::cout << timeline(g, o) << std::flush;
    return o.how == outcome::end::complete;
}

bool run_searches(const arguments& a)
{
    bool good = true;
    print_head("search", "result");
    for (const search_run& each : search_runs())
        if (each.when <= a.most_effort)
            good = run_search(each.g, a.most) && good;
    return good;
}

bool run_errors(const arguments& a)
{
    int missed = 0;
    int found = 0;
    print_head("\nerror, and the smallest search that finds it", "what gives it away");
    for (const error_run& each : error_runs()) {
        if (!a.only.empty() && a.only != each.name)
            continue;
        const double began = now();
        const outcome o = watched_search(each.g, a.most);
        const bool right = o.how == outcome::end::found && o.what.starts_with(each.found);
        (right ? found : missed) += 1;
        print_row(std::string(each.name) + ": " + to_text(each.g), o, now() - began,
                  right                             ? o.what
                  : o.how == outcome::end::complete ? "NOT FOUND"
                                                    : "OTHERWISE: " + o.what);
        if (o.how == outcome::end::found && (a.trace || !right))
            std::cout << timeline(each.g, o) << std::flush;
        if (a.smaller)
            for (const setting& g : smaller(each.g))
                if (watched_search(g, a.most).how == outcome::end::found)
                    std::printf("    %s finds it, too\n", to_text(g).c_str());
    }
    std::printf("\n%d errors found, %d not\n", found, missed);
    return missed == 0 && found > 0;
}

} // namespace

int main(int argc, char** argv)
{
    try {
        const arguments a = parse(argc, argv);
        if (a.run)
            return run_search(*a.run, a.most) ? 0 : 1;
        bool good = true;
        if (a.searches)
            good = run_searches(a);
        if (a.errors)
            good = run_errors(a) && good;
        return good ? 0 : 1;
    }
    catch (const std::exception& failed) {
        std::cerr << "error: " << failed.what() << '\n';
        return 2;
    }
}
