#ifndef LEASEHOLD_TEST_MODEL_SMALL_MODEL_HPP
#define LEASEHOLD_TEST_MODEL_SMALL_MODEL_HPP

#include "model/breadth_first.hpp"

#include "support/command_line.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

// The program of a model that is searched completely: its searches, then its deliberate errors.
namespace leasehold::test::model {

template <class Setting>
struct search_run
{
    const char* name;
    Setting g;
    int effort = 0; ///< 0 quick, 1 normal, 2 deep.
};

template <class Setting, class Step>
struct small_model
{
    const char* usage;
    const char* title;
    int width; ///< The width of the names of its runs.
    std::uint64_t most;
    std::vector<search_run<Setting>> searches; ///< These must find no error.
    std::vector<search_run<Setting>> errors;   ///< Each of these must find an error.
    std::string (*words)(const Step& made);
};

template <class Step>
void print_row(const char* name, int width, const outcome<Step>& o, double seconds,
               const std::string& result)
{
    std::printf("%-*s %10llu %11llu %6.1f  %s\n", width, name,
                static_cast<unsigned long long>(o.states),
                static_cast<unsigned long long>(o.transitions), seconds, result.c_str());
    std::fflush(stdout);
}

template <class Step, class Setting>
outcome<Step> timed_search(const Setting& g, std::uint64_t most, double& seconds)
{
    using clock = std::chrono::steady_clock;
    const auto began = clock::now();
    auto said = began;
    outcome<Step> out = search<Step>(g, most, [&](std::uint64_t states) {
        if (clock::now() - said < std::chrono::seconds(20))
            return;
        said = clock::now();
        std::printf("    %llu states\n", static_cast<unsigned long long>(states));
        std::fflush(stdout);
    });
    seconds = std::chrono::duration<double>(clock::now() - began).count();
    return out;
}

/// The exit code: 0 if no search failed and every error was found.
template <class Setting, class Step>
int run(const small_model<Setting, Step>& what, int argc, char** argv)
{
    int effort = 1;
    bool run_searches = true;
    bool run_errors = true;
    bool trace = false;
    std::uint64_t most = what.most;
    const auto print_way = [&](const outcome<Step>& o) {
        for (const Step& made : o.path)
            std::printf("      %s\n", what.words(made).c_str());
    };
    try {
        command_line()
            .flag("--quick", [&] { effort = 0; })
            .flag("--deep", [&] { effort = 2; })
            .flag("--searches", [&] { run_errors = false; })
            .flag("--errors", [&] { run_searches = false; })
            .flag("--trace", trace)
            .number("--most", most)
            .flag("--help",
                  [&] {
                      std::cout << what.usage;
                      std::exit(0);
                  })
            .read(argc, argv);
        bool good = true;
        double seconds = 0;
        std::printf("%-*s %10s %11s %6s  %s\n", what.width, what.title, "states", "transitions",
                    "s", "result");
        for (const auto& each : what.searches) {
            if (!run_searches || each.effort > effort)
                continue;
            const auto o = timed_search<Step>(each.g, most, seconds);
            print_row(each.name, what.width, o, seconds,
                      o.complete        ? "nothing is wrong"
                      : o.found.empty() ? "cut off"
                                        : "FOUND: " + o.found);
            print_way(o);
            good = good && o.complete;
        }
        unsigned found = 0;
        unsigned missed = 0;
        for (const auto& each : what.errors) {
            if (!run_errors || each.effort > effort)
                continue;
            const auto o = timed_search<Step>(each.g, most, seconds);
            (o.found.empty() ? missed : found) += 1;
            print_row(each.name, what.width, o, seconds, o.found.empty() ? "NOT FOUND" : o.found);
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

} // namespace leasehold::test::model

#endif
