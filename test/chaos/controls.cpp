#include "chaos/controls.hpp"

#include "chaos/checker.hpp"
#include "chaos/corruption.hpp"

#include <algorithm>

namespace leasehold::test::chaos {
namespace {

using namespace std::chrono_literals;

control overtaken(round_settings how, bool fenced, const progress_function& progress)
{
    how.clients.fenced = fenced;
    const report found = check(run_overtaken(how, progress));
    const auto lost = std::count_if(
        found.violations.begin(), found.violations.end(),
        [](const violation& each) { return each.broken == rule::no_lost_update; });
    control out;
    out.text = std::string("clients stopped between look and write ") +
               std::to_string(how.clients.pauses) + " times, register " +
               (fenced ? "with" : "without") + " fence check: " + std::to_string(lost) +
               " updates lost of " + std::to_string(found.writes) + ", " +
               std::to_string(found.refused) + " refused";
    if (fenced)
        out.passed = found.violations.empty() &&
                     found.refused >= static_cast<std::uint64_t>(how.clients.pauses);
    else
        out.passed = lost >= how.clients.pauses && found.has(rule::register_order);
    for (const violation& each : found.violations)
        if (fenced)
            out.text += "\n    " + std::string(name_of(each.broken)) + ": " + each.text;
    return out;
}

} // namespace

std::vector<control> control_fences(const deployment_kind& on, std::uint64_t seed,
                                    const progress_function& progress)
{
    const round_settings how{.on = on,
                             .clients = {.seed = seed,
                                         .clients = 3,
                                         .names = {"a", "b"},
                                         .lease = 300ms,
                                         .workers = 3,
                                         .pauses = 3,
                                         .replica_acks = on.replica_acks}};
    return {overtaken(how, true, progress), overtaken(how, false, progress)};
}

std::vector<control> control_confirmation(const deployment_kind& on, std::uint64_t seed,
                                          const progress_function& progress)
{
    if (on.replica_acks == 0)
        return {};
    // A failover that takes longer than the lease, as on a machine under load, loses no lock.
    constexpr std::uint64_t most_rounds = 5;
    control out;
    for (std::uint64_t i = 0; i < most_rounds && !out.passed; ++i) {
        const report found = check(run_cut_off({.on = on,
                                                .clients = {.seed = seed + i,
                                                            .clients = 2,
                                                            .names = {"a"},
                                                            .lease = 2 * on.lease,
                                                            .workers = 0,
                                                            .replica_acks = 0}},
                                               progress));
        const auto count = [&](rule broken) {
            return std::count_if(found.violations.begin(), found.violations.end(),
                                 [&](const violation& each) { return each.broken == broken; });
        };
        const auto lost = count(rule::loss_caused);
        const auto twice = count(rule::exclusion);
        out.passed = lost + twice > 0;
        out.text = "locks that no replica confirms, masters cut off: " + std::to_string(lost) +
                   " lost, " + std::to_string(twice) + " held twice, of " +
                   std::to_string(found.grants);
    }
    return {out};
}

control control_checker(const std::vector<record>& good, int times, std::uint64_t seed)
{
    rejections all;
    for (std::size_t i = 0; i < good.size(); ++i) {
        const int left = static_cast<int>(good.size() - i);
        const rejections some = reject_corrupted(good[i], (times - all.tried) / left,
                                                 seed + i * 1000);
        all.tried += some.tried;
        all.rejected += some.rejected;
        all.accepted += (all.accepted.empty() || some.accepted.empty() ? "" : ", ") + some.accepted;
    }
    control out;
    out.passed = all.tried == times && all.rejected == times;
    out.text = "histories corrupted on purpose: " + std::to_string(all.rejected) + " of " +
               std::to_string(all.tried) + " rejected";
    if (!all.accepted.empty())
        out.text += "; not: " + all.accepted;
    return out;
}

} // namespace leasehold::test::chaos
