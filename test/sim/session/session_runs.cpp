#include "sim/session/session_runs.hpp"

#include "sim/mutants.hpp"
#include "sim/session/session_trial.hpp"

#include <array>
#include <cstdio>
#include <ctime>
#include <functional>
#include <iostream>
#include <string_view>

namespace leasehold::test::sessions {
namespace {

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

int run_one(const selection& which)
{
    active_mutant = which.only;
    tally counted;
    std::function<void(std::string_view)> trace;
    if (which.trace)
        trace = [](std::string_view line) { std::cout << line << '\n'; };
    const auto got = run(*which.seed, link_error::none, counted, trace);
    std::printf("seed %llu: hash %016llx%s%s\n", static_cast<unsigned long long>(*which.seed),
                static_cast<unsigned long long>(got.hash), got.wrong.empty() ? "" : ", WRONG ",
                got.wrong.c_str());
    return got.wrong.empty() ? 0 : 1;
}

int run_seeds(const selection& which)
{
    tally counted;
    std::uint64_t hashes = 0;
    const std::clock_t began = std::clock();
    for (std::uint64_t seed = which.from; seed < which.from + which.seeds; ++seed) {
        const auto got = run(seed, link_error::none, counted);
        if (!got.wrong.empty()) {
            std::printf("seed %llu: %s\nagain: --topology session --seed %llu --trace\n",
                        static_cast<unsigned long long>(seed), got.wrong.c_str(),
                        static_cast<unsigned long long>(seed));
            return 1;
        }
        hashes = hashes * 31 + got.hash;
        tally none;
        if (seed % 1000 == 0 && run(seed, link_error::none, none).hash != got.hash) {
            std::printf("seed %llu: two runs with two hashes\n",
                        static_cast<unsigned long long>(seed));
            return 1;
        }
    }
    const double cpu = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
    std::printf(
        "%llu seeds, %.0f a second, %llu leases, %llu of them short, %llu losses, "
        "%llu removed by an operator; hash %016llx\n",
        static_cast<unsigned long long>(which.seeds), static_cast<double>(which.seeds) / cpu,
        static_cast<unsigned long long>(counted.leases),
        static_cast<unsigned long long>(counted.short_leases),
        static_cast<unsigned long long>(counted.losses),
        static_cast<unsigned long long>(counted.removals), static_cast<unsigned long long>(hashes));
    return 0;
}

/// False if no seed finds it.
bool find(const char* name, link_error error, mutant active, const selection& which)
{
    active_mutant = active;
    tally none;
    for (std::uint64_t i = 0; i < which.limit; ++i) {
        const auto got = run(which.from + i, error, none);
        if (got.wrong.empty())
            continue;
        std::printf("%-26s %8llu  %s\n", name, static_cast<unsigned long long>(i + 1),
                    got.wrong.c_str());
        std::fflush(stdout);
        return true;
    }
    std::printf("%-26s %8llu  NOT FOUND\n", name, static_cast<unsigned long long>(which.limit));
    std::fflush(stdout);
    return false;
}

} // namespace

int run_selected(const selection& which)
{
    return which.seed ? run_one(which) : run_seeds(which);
}

int find_errors(const selection& which)
{
    struct of_link
    {
        const char* name;
        link_error error;
    };
    int missed = 0;
    if (which.only != mutant::none)
        return find(sim::name_of(which.only), link_error::none, which.only, which) ? 0 : 1;
    for (const auto [name, error] :
         {of_link{"lease_as_requested", link_error::lease_as_requested},
          of_link{"removal_not_reported", link_error::removal_not_reported},
          of_link{"grant_not_reported", link_error::grant_not_reported}})
        missed += find(name, error, mutant::none, which) ? 0 : 1;
    for (const mutant each : errors_of_core)
        missed += find(sim::name_of(each), link_error::none, each, which) ? 0 : 1;
    return missed == 0 ? 0 : 1;
}

} // namespace leasehold::test::sessions
