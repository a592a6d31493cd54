// Runs seeds in the simulator; or one with its timeline; or looks for the mutants.
#include "sim/mutants.hpp"
#include "sim/plan.hpp"
#include "sim/run.hpp"
#include "sim/shrink.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <iostream>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sim = leasehold::test::sim;
using leasehold::mutant;

namespace {

constexpr char usage[] =
    R"(usage: sim [--seeds N] [--from SEED] [--cells N] [--seed S [--trace]] [--mutants [--limit N] [--only NAME]]

  --seeds N     run N seeds (20000)
  --from SEED   beginning with this one (1)
  --cells N     fail unless every cell of the table fault x phase was hit so often
  --seed S      run one; with --trace print what each client and store did
  --mutants     switch each deliberate error on in turn, and count the seeds until it is found
  --limit N     seeds for each mutant (100000)
  --only NAME   one mutant; also for --seed
)";

struct arguments
{
    std::uint64_t seeds = 20'000;
    std::uint64_t from = 1;
    std::uint64_t cells = 0;
    std::optional<std::uint64_t> seed;
    bool trace = false;
    bool mutants = false;
    std::uint64_t limit = 100'000;
    mutant only = mutant::none;
};

std::uint64_t number(std::string_view option, const char* text)
{
    char* end = nullptr;
    const auto value = text == nullptr ? 0 : std::strtoull(text, &end, 10);
    if (text == nullptr || end == text || *end != '\0')
        throw std::invalid_argument(std::string(option) + " needs a number");
    return value;
}

arguments parse(int argc, char** argv)
{
    arguments out;
    for (int i = 1; i < argc; ++i) {
        const std::string_view option = argv[i];
        const auto next = [&] { return i + 1 < argc ? argv[++i] : nullptr; };
        if (option == "--seeds")
            out.seeds = number(option, next());
        else if (option == "--from")
            out.from = number(option, next());
        else if (option == "--cells")
            out.cells = number(option, next());
        else if (option == "--limit")
            out.limit = number(option, next());
        else if (option == "--seed")
            out.seed = number(option, next());
        else if (option == "--trace")
            out.trace = true;
        else if (option == "--mutants")
            out.mutants = true;
        else if (option == "--only") {
            const char* const name = next();
            const auto which = name == nullptr ? std::nullopt : sim::mutant_of(name);
            if (!which)
                throw std::invalid_argument("--only needs the name of a mutant");
            out.only = *which;
        }
        else if (option == "--help") {
            std::cout << usage;
            std::exit(0);
        }
        else
            throw std::invalid_argument("unknown argument " + std::string(option));
    }
    return out;
}

double cpu_seconds()
{
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

void print_timeline(const sim::plan& what)
{
    sim::coverage none;
    std::cout << describe(what) << '\n';
    const auto verdict = sim::run(what, none,
                                  [](std::string_view line) { std::cout << line << '\n'; });
    std::cout << "\nhash " << std::hex << verdict.hash << std::dec
              << (verdict.wrong.empty() ? "" : "\nWRONG ") << verdict.wrong << '\n';
}

void report(const sim::plan& failing, const sim::verdict& how)
{
    std::cout << "\nseed " << failing.seed << ": " << how.wrong << "\nshrinking ..." << std::endl;
    const sim::plan small = sim::shrink(failing, how);
    std::cout << "what is left of it:\n";
    print_timeline(small);
    std::cout << "\nagain, in full: --seed " << failing.seed << " --trace\n";
}

/// False when a cell is too empty.
bool print_coverage(const sim::coverage& counted, std::uint64_t least)
{
    std::printf("\n%-20s", "fault x phase");
    for (std::size_t p = 0; p < static_cast<std::size_t>(sim::phase::count_); ++p)
        std::printf("%11s", sim::name_of(static_cast<sim::phase>(p)));
    std::printf("\n");
    bool enough = true;
    for (std::size_t f = 0; f < static_cast<std::size_t>(sim::fault_kind::count_); ++f) {
        std::printf("%-20s", sim::name_of(static_cast<sim::fault_kind>(f)));
        for (std::size_t p = 0; p < static_cast<std::size_t>(sim::phase::count_); ++p) {
            const auto hits = counted.met[f][p];
            enough = enough && hits >= least;
            std::printf("%10llu%c", static_cast<unsigned long long>(hits),
                        hits < least ? '!' : ' ');
        }
        std::printf("\n");
    }
    return enough;
}

void print_speed(std::uint64_t seeds, const sim::coverage& counted, double cpu)
{
    const auto hours = static_cast<double>(counted.simulated / std::chrono::seconds(1)) / 3600;
    std::printf("%llu seeds, %.1f s of CPU, %.0f seeds a second, %.1f simulated hours, %.0f events "
                "a seed\n",
                static_cast<unsigned long long>(seeds), cpu, static_cast<double>(seeds) / cpu,
                hours, static_cast<double>(counted.events) / static_cast<double>(seeds));
    std::fflush(stdout);
}

int run_seeds(const arguments& a)
{
    sim::coverage counted;
    const double began = cpu_seconds();
    std::uint64_t hashes = 0;
    auto said = std::chrono::steady_clock::now();
    for (std::uint64_t seed = a.from; seed < a.from + a.seeds; ++seed) {
        const sim::plan p = sim::make_plan(seed);
        const sim::verdict v = sim::run(p, counted);
        if (!v.wrong.empty()) {
            report(p, v);
            return 1;
        }
        hashes = hashes * 31 + v.hash;
        // Every thousandth twice: a run that cannot be repeated proves nothing.
        sim::coverage none;
        if (seed % 1000 == 0 && sim::run(p, none).hash != v.hash) {
            std::cout << "seed " << seed << ": two runs with two hashes\n";
            return 1;
        }
        if (const auto now = std::chrono::steady_clock::now();
            now - said > std::chrono::seconds(10)) {
            said = now;
            print_speed(seed - a.from + 1, counted, cpu_seconds() - began);
        }
    }
    print_speed(a.seeds, counted, cpu_seconds() - began);
    std::printf("%llu operations, %llu leases, %llu handed over, %llu losses, %llu overlaps "
                "excused by lost data, %llu commands; hash %016llx\n",
                static_cast<unsigned long long>(counted.operations),
                static_cast<unsigned long long>(counted.leases),
                static_cast<unsigned long long>(counted.handed_over),
                static_cast<unsigned long long>(counted.losses),
                static_cast<unsigned long long>(counted.overlaps_excused),
                static_cast<unsigned long long>(counted.commands),
                static_cast<unsigned long long>(hashes));
    if (!print_coverage(counted, a.cells)) {
        std::cout << "cells marked ! were hit less than " << a.cells << " times\n";
        return 1;
    }
    return 0;
}

struct catch_of_mutant
{
    std::uint64_t seeds;
    bool found;
    char how[160];
};

void hunt(std::uint64_t from, std::uint64_t limit, catch_of_mutant& out)
{
    sim::coverage none;
    for (std::uint64_t i = 0; i < limit; ++i) {
        out.seeds = i + 1;
        const sim::verdict v = sim::run(sim::make_plan(from + i), none);
        if (v.wrong.empty())
            continue;
        out.found = true;
        std::snprintf(out.how, sizeof out.how, "%s", v.wrong.c_str());
        return;
    }
}

/// In a process of its own: some errors do not only break promises.
catch_of_mutant hunt_apart(mutant which, std::uint64_t from, std::uint64_t limit)
{
    void* const memory = ::mmap(nullptr, sizeof(catch_of_mutant), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        throw std::runtime_error("no shared memory");
    auto& shared = *new (memory) catch_of_mutant{};
    const pid_t child = ::fork();
    if (child < 0)
        throw std::runtime_error("no process");
    if (child == 0) {
        leasehold::active_mutant = which;
        ::alarm(600); // one that runs in a circle is found as well
        hunt(from, limit, shared);
        std::_Exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    catch_of_mutant result = shared;
    ::munmap(memory, sizeof(catch_of_mutant));
    if (WIFSIGNALED(status)) {
        result.found = true;
        std::snprintf(result.how, sizeof result.how, "the process ended with signal %d",
                      WTERMSIG(status));
    }
    return result;
}

int run_mutants(const arguments& a)
{
    int missed = 0;
    std::printf("%-26s %8s  %s\n", "mutant", "seeds", "what gave it away");
    for (std::size_t i = 1; i < static_cast<std::size_t>(mutant::count_); ++i) {
        const auto which = static_cast<mutant>(i);
        if (a.only != mutant::none && a.only != which)
            continue;
        std::fflush(stdout);
        const auto result = hunt_apart(which, a.from, a.limit);
        missed += result.found ? 0 : 1;
        std::printf("%-26s %8llu  %s\n", sim::name_of(which),
                    static_cast<unsigned long long>(result.seeds),
                    result.found ? result.how : "NOT FOUND");
    }
    return missed == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv)
try {
    const arguments a = parse(argc, argv);
    if (a.mutants)
        return run_mutants(a);
    if (!a.seed)
        return run_seeds(a);
    leasehold::active_mutant = a.only;
    const sim::plan p = sim::make_plan(*a.seed);
    if (a.trace) {
        print_timeline(p);
        return 0;
    }
    sim::coverage none;
    const sim::verdict v = sim::run(p, none);
    if (v.wrong.empty()) {
        std::cout << "seed " << *a.seed << ": hash " << std::hex << v.hash << '\n';
        return 0;
    }
    report(p, v);
    return 1;
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n' << usage;
    return 2;
}
