// Runs the core of the library with a store whose locks live in sessions, in virtual time.

#include "base/mutant.hpp"
#include "sim/mutants.hpp"
#include "sim/session/session_trial.hpp"
#include "support/command_line.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

namespace sessions = leasehold::test::sessions;
namespace sim = leasehold::test::sim;
using leasehold::mutant;
using sessions::link_error;

namespace {

constexpr const char* usage =
    R"(usage: session_sim [--seeds N] [--from SEED] [--seed S [--trace]] [--errors [--limit N]]

  --seeds N   run N seeds (20000), each a minute of virtual time with faults
  --from S    beginning with this one (1)
  --seed S    run one; with --trace print what each client did
  --errors    switch each deliberate error on in turn, and count the seeds until it is found
  --limit N   seeds for each error (20000)
)";

/// The errors of the core that show with this store.
constexpr std::array errors_of_core = {
    mutant::validity_without_clock,
    mutant::deadline_not_watched,
    mutant::late_grant_accepted,
    mutant::unknown_is_lost,
    mutant::owner_reused,
    mutant::release_not_repeated,
    mutant::orphan_kept,
    mutant::hold_limit_kept,
    mutant::given_lease_ignored,
    mutant::expired_lock_kept,
    mutant::detached_lock_kept,
    mutant::session_release_given_up,
};

struct arguments
{
    std::uint64_t seeds = 20'000;
    std::uint64_t from = 1;
    std::uint64_t limit = 20'000;
    std::optional<std::uint64_t> seed;
    bool trace = false;
    bool errors = false;
};

[[noreturn]] void print_usage()
{
    std::cout << usage;
    std::exit(0);
}

arguments parse(int argc, char** argv)
{
    arguments out;
    leasehold::test::command_line()
        .number("--seeds", out.seeds)
        .number("--from", out.from)
        .number("--limit", out.limit)
        .number("--seed", out.seed)
        .flag("--trace", out.trace)
        .flag("--errors", out.errors)
        .flag("--help", print_usage)
        .read(argc, argv);
    return out;
}

int run_one(const arguments& a)
{
    sessions::tally counted;
    std::function<void(std::string_view)> trace;
    if (a.trace)
        trace = [](std::string_view line) { std::cout << line << '\n'; };
    const auto got = sessions::run(*a.seed, link_error::none, counted, trace);
    std::printf("seed %llu: hash %016llx%s%s\n", static_cast<unsigned long long>(*a.seed),
                static_cast<unsigned long long>(got.hash), got.wrong.empty() ? "" : ", WRONG ",
                got.wrong.c_str());
    return got.wrong.empty() ? 0 : 1;
}

int run_seeds(const arguments& a)
{
    sessions::tally counted;
    std::uint64_t hashes = 0;
    const std::clock_t began = std::clock();
    for (std::uint64_t seed = a.from; seed < a.from + a.seeds; ++seed) {
        const auto got = sessions::run(seed, link_error::none, counted);
        if (!got.wrong.empty()) {
            std::printf("seed %llu: %s\nagain: --seed %llu --trace\n",
                        static_cast<unsigned long long>(seed), got.wrong.c_str(),
                        static_cast<unsigned long long>(seed));
            return 1;
        }
        hashes = hashes * 31 + got.hash;
        sessions::tally none;
        if (seed % 1000 == 0 && sessions::run(seed, link_error::none, none).hash != got.hash) {
            std::printf("seed %llu: two runs with two hashes\n",
                        static_cast<unsigned long long>(seed));
            return 1;
        }
    }
    const double cpu = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
    std::printf("%llu seeds, %.0f a second, %llu leases, %llu of them short, %llu losses, "
                "%llu removed by an operator; hash %016llx\n",
                static_cast<unsigned long long>(a.seeds), static_cast<double>(a.seeds) / cpu,
                static_cast<unsigned long long>(counted.leases),
                static_cast<unsigned long long>(counted.short_leases),
                static_cast<unsigned long long>(counted.losses),
                static_cast<unsigned long long>(counted.removals),
                static_cast<unsigned long long>(hashes));
    return 0;
}

/// False if no seed finds it.
bool find(const char* name, link_error error, mutant active, const arguments& a)
{
    leasehold::active_mutant = active;
    sessions::tally none;
    for (std::uint64_t i = 0; i < a.limit; ++i) {
        const auto got = sessions::run(a.from + i, error, none);
        if (got.wrong.empty())
            continue;
        std::printf("%-26s %8llu  %s\n", name, static_cast<unsigned long long>(i + 1),
                    got.wrong.c_str());
        std::fflush(stdout);
        return true;
    }
    std::printf("%-26s %8llu  NOT FOUND\n", name, static_cast<unsigned long long>(a.limit));
    std::fflush(stdout);
    return false;
}

int run_errors(const arguments& a)
{
    struct of_link
    {
        const char* name;
        link_error error;
    };
    int missed = 0;
    for (const auto [name, error] :
         {of_link{"lease_as_requested", link_error::lease_as_requested},
          of_link{"removal_not_reported", link_error::removal_not_reported},
          of_link{"grant_not_reported", link_error::grant_not_reported}})
        missed += find(name, error, mutant::none, a) ? 0 : 1;
    for (const mutant each : errors_of_core)
        missed += find(sim::name_of(each), link_error::none, each, a) ? 0 : 1;
    return missed == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv)
try {
    const arguments a = parse(argc, argv);
    if (a.errors)
        return run_errors(a);
    return a.seed ? run_one(a) : run_seeds(a);
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n' << usage;
    return 2;
}
