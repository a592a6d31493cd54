#include "sim/hunt.hpp"

#include "sim/run.hpp"

#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace leasehold::test::sim {
namespace {

/// Seconds. A plan takes milliseconds: one that takes this long loops forever, which is a finding.
constexpr unsigned longest_run = 60;

void run_until_wrong(std::uint64_t limit, const std::function<plan(std::uint64_t)>& make,
                     catch_of_mutant& out)
{
    coverage none;
    for (std::uint64_t i = 0; i < limit; ++i) {
        out.seeds = i + 1;
        ::alarm(longest_run);
        const verdict v = run(make(i), none);
        if (v.wrong.empty())
            continue;
        out.found = true;
        std::snprintf(out.how, sizeof out.how, "%s", v.wrong.c_str());
        return;
    }
}

} // namespace

catch_of_mutant hunt(mutant active, std::uint64_t limit,
                     const std::function<plan(std::uint64_t)>& make)
{
    void* const memory = ::mmap(nullptr, sizeof(catch_of_mutant), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        throw std::runtime_error("no shared memory");
    auto& shared = *new (memory) catch_of_mutant{};
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child < 0)
        throw std::runtime_error("no process");
    if (child == 0) {
        active_mutant = active;
        run_until_wrong(limit, make, shared);
        std::_Exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    catch_of_mutant result = shared;
    ::munmap(memory, sizeof(catch_of_mutant));
    if (WIFSIGNALED(status)) {
        result.found = true;
        result.crashed = true;
        std::snprintf(result.how, sizeof result.how, "the process ended with signal %d",
                      WTERMSIG(status));
    }
    return result;
}

} // namespace leasehold::test::sim
