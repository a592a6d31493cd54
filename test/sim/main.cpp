// Runs seeds in the simulator, or one seed with its timeline, or searches for the mutants.
#include "report/page.hpp"
#include "sim/hunt.hpp"
#include "sim/mutants.hpp"
#include "sim/plan.hpp"
#include "sim/plan_text.hpp"
#include "sim/regressions.hpp"
#include "sim/run.hpp"
#include "sim/session/session_runs.hpp"
#include "sim/shrink.hpp"
#include "sim/trace_page.hpp"
#include "support/command_line.hpp"
#include "testing/server/script_mutants.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sim = leasehold::test::sim;
using leasehold::mutant;

namespace {

constexpr char usage[] =
    R"(usage: sim [--seeds N] [--from SEED] [--cells N] [--layout L] [--topology T]
           [--seed S [--trace] [--html FILE]]
           [--mutants [--limit N] [--only NAME]] [--plan FILE [--trace] [--html FILE]]
           [--regressions DIRECTORY]

  --seeds N     runs N seeds (20000)
  --from SEED   the first of them (1)
  --cells N     fails unless each fault has had an effect in each phase at least N times
  --topology T  redlock: a quorum of servers instead of one; cluster: several masters and replicas;
                session: a store whose locks live in sessions, with --seeds, --from, --seed,
                --trace, --mutants, --limit and --only
  --layout L    redisson or native for all seeds; default: half of the seeds each
  --seed S      runs one seed; with --trace prints the steps of each client and store
  --html FILE   with --seed or --plan: draws the timeline, as a page in FILE
  --mutants     switches each deliberate error on in turn, and counts the seeds until it is found
  --limit N     seeds for each mutant (100000)
  --only NAME   one mutant; also for --seed and --plan
  --plan FILE   runs the plan in a file instead of that of a seed
  --print       with --seed: prints the plan of a seed as such a file
  --regressions DIRECTORY
                runs every plan that once found a defect, and checks that it still finds it;
                with --mutants: uses them first
)";

struct arguments
{
    std::uint64_t seeds = 20'000;
    std::uint64_t from = 1;
    std::uint64_t cells = 0;
    std::optional<std::uint64_t> seed;
    bool trace = false;
    bool mutants = false;
    bool print = false;
    std::string html;
    std::string plan;
    std::string regressions;
    std::uint64_t limit = 100'000;
    mutant only = mutant::none;
    std::optional<leasehold::redis_config::key_layout> layout;
    bool quorum = false;
    bool cluster = false;
    bool session = false;

    [[nodiscard]] sim::plan make_plan(std::uint64_t of) const
    {
        if (cluster)
            return sim::make_cluster_plan(of, layout);
        return quorum ? sim::make_quorum_plan(of) : sim::make_plan(of, layout);
    }
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
        .number("--cells", out.cells)
        .number("--limit", out.limit)
        .number("--seed", out.seed)
        .value("--layout",
               [&out](const std::string& name) {
                   if (name != "native" && name != "redisson")
                       throw leasehold::test::bad_argument("--layout", name, "native or redisson");
                   out.layout = name == "native" ? leasehold::redis_config::key_layout::native
                                                 : leasehold::redis_config::key_layout::redisson;
               })
        .value("--topology",
               [&out](const std::string& name) {
                   if (name != "redlock" && name != "cluster" && name != "session")
                       throw leasehold::test::bad_argument("--topology", name,
                                                           "redlock, cluster or session");
                   out.quorum = name == "redlock";
                   out.cluster = name == "cluster";
                   out.session = name == "session";
               })
        .flag("--trace", out.trace)
        .value("--html", out.html)
        .flag("--print", out.print)
        .value("--plan", out.plan)
        .value("--regressions", out.regressions)
        .flag("--mutants", out.mutants)
        .value("--only",
               [&out](const std::string& name) {
                   const auto known = sim::mutant_of(name);
                   if (!known)
                       throw leasehold::test::bad_argument("--only", name,
                                                           "one of those that --mutants lists");
                   out.only = *known;
               })
        .flag("--help", print_usage)
        .read(argc, argv);
    if (out.session && (out.layout || out.cells > 0 || out.print || !out.html.empty() ||
                        !out.plan.empty() || !out.regressions.empty()))
        throw leasehold::test::bad_argument(
            "--topology session has no --layout, --cells, --print, --html, --plan, --regressions");
    return out;
}

double cpu_seconds()
{
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

void print_timeline(const sim::plan& plan)
{
    sim::coverage none;
    std::cout << to_text(plan) << '\n';
    const auto verdict = sim::run(plan, none,
                                  [](std::string_view line) { std::cout << line << '\n'; });
    std::cout << "\nhash " << std::hex << verdict.hash << std::dec
              << (verdict.wrong.empty() ? "" : "\nWRONG ") << verdict.wrong << '\n';
}

void draw_timeline(const sim::plan& plan, const std::string& file)
{
    sim::trace_page page("simulated, seed " + std::to_string(plan.seed));
    page.fact("plan", to_text(plan));
    sim::coverage none;
    const auto verdict = sim::run(plan, none, [&](std::string_view line) { page.add(line); });
    page.fact("verdict", verdict.wrong.empty() ? "nothing is wrong" : "WRONG " + verdict.wrong);
    leasehold::report::write_page_file(file, page.to_json());
}

void report(const sim::plan& failing, const sim::verdict& how)
{
    std::cout << "\nseed " << failing.seed << ": " << how.wrong << "\nshrinking ..." << std::endl;
    const sim::plan small = sim::shrink(failing, how);
    std::cout << "what is left of it, as a file for --plan and test/sim/regressions:\n";
    print_timeline(small);
    std::cout << "\nagain, in full: --seed " << failing.seed
              << (failing.is_quorum()    ? " --topology redlock"
                  : failing.is_cluster() ? " --topology cluster"
                  : failing.is_native()  ? " --layout native"
                                         : " --layout redisson")
              << " --trace\n";
}

/// False if a cell has too few hits.
bool print_coverage(const sim::coverage& counted, const arguments& a)
{
    const std::uint64_t least = a.cells;
    std::printf("\n%-20s", "changed x phase");
    for (std::size_t p = 0; p < sim::phases; ++p)
        std::printf("%11s", sim::name_of(static_cast<sim::phase>(p)));
    std::printf("\n");
    bool enough = true;
    std::string excused;
    for (std::size_t f = 0; f < sim::fault_kinds; ++f) {
        const auto kind = static_cast<sim::fault_kind>(f);
        if (a.cluster ? !sim::occurs_in_clusters(kind) : sim::is_of_cluster(kind))
            continue;
        std::printf("%-20s", sim::name_of(kind));
        for (std::size_t p = 0; p < sim::phases; ++p) {
            const auto in = static_cast<sim::phase>(p);
            const auto hits = counted.met[f][p];
            const char* const why_not = sim::impossible(kind, in);
            // An effect that counts as impossible must not occur.
            const bool good = why_not != nullptr ? hits == 0 : hits >= least || sim::rare(kind, in);
            enough = enough && good;
            std::printf("%10llu%c", static_cast<unsigned long long>(hits),
                        !good                ? '!'
                        : why_not != nullptr ? '-'
                                             : ' ');
            if (why_not != nullptr)
                excused.append("  ")
                    .append(sim::name_of(kind))
                    .append(", ")
                    .append(sim::name_of(in))
                    .append(": ")
                    .append(why_not)
                    .append("\n");
        }
        std::printf("\n");
    }
    std::printf("- cannot be:\n%s", excused.c_str());
    std::fflush(stdout);
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
        const sim::plan p = a.make_plan(seed);
        const sim::verdict v = sim::run(p, counted);
        if (!v.wrong.empty()) {
            report(p, v);
            return 1;
        }
        hashes = hashes * 31 + v.hash;
        // Every thousandth seed runs twice: a run that cannot be repeated proves nothing.
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
                static_cast<unsigned long long>(counted.handed_off),
                static_cast<unsigned long long>(counted.losses),
                static_cast<unsigned long long>(counted.overlaps_excused),
                static_cast<unsigned long long>(counted.commands),
                static_cast<unsigned long long>(hashes));
    if (!print_coverage(counted, a)) {
        std::cout << "! less than " << a.cells << " times, or impossible and yet seen\n";
        return 1;
    }
    return 0;
}

int run_mutants(const arguments& a)
{
    // Some errors occur once in a hundred million seeds: the plan that found them comes first.
    constexpr std::uint64_t worlds_of_a_plan = 100;
    const auto known = a.regressions.empty() ? std::vector<sim::regression>()
                                             : sim::read_regressions(a.regressions);
    using leasehold::testing::impl::find_stale_patch;
    using leasehold::testing::impl::patches_of_scripts;
    if (const auto* const stale = find_stale_patch(patches_of_scripts())) {
        std::cerr << "error: the deliberate error " << sim::name_of(stale->error)
                  << " replaces a text that no script has:\n"
                  << stale->text << '\n';
        return 2;
    }
    int missed = 0;
    std::printf("%-26s %8s  %s\n", "mutant", "seeds", "what gave it away");
    for (std::size_t i = 1; i < static_cast<std::size_t>(mutant::count_); ++i) {
        const auto m = static_cast<mutant>(i);
        if (a.only != mutant::none && a.only != m)
            continue;
        if (sim::is_of_session(m))
            continue; // of --topology session
        std::fflush(stdout);
        std::vector<const sim::regression*> plans;
        for (const sim::regression& each : known)
            if (each.finds == m)
                plans.push_back(&each);
        const auto result = sim::hunt(m, a.limit, [&](std::uint64_t n) {
            if (n < worlds_of_a_plan * plans.size())
                return plans[n % plans.size()]->in_world(n / plans.size());
            if (sim::is_of_cluster(m))
                return sim::make_cluster_plan(a.from + n, a.layout);
            return sim::is_of_quorum(m) ? sim::make_quorum_plan(a.from + n)
                                        : a.make_plan(a.from + n);
        });
        missed += result.found ? 0 : 1;
        std::printf("%-26s %8llu  %s\n", sim::name_of(m),
                    static_cast<unsigned long long>(result.seeds),
                    result.found ? result.how : "NOT FOUND");
    }
    return missed == 0 ? 0 : 1;
}

sim::plan plan_of(const arguments& a)
{
    return a.plan.empty() ? a.make_plan(*a.seed) : sim::read_regression(a.plan).scenario;
}

int run_one(const arguments& a)
{
    leasehold::active_mutant = a.only;
    const sim::plan p = plan_of(a);
    if (a.print) {
        std::cout << to_text(p);
        return 0;
    }
    if (!a.html.empty())
        draw_timeline(p, a.html);
    if (a.trace) {
        print_timeline(p);
        return 0;
    }
    sim::coverage none;
    const sim::verdict v = sim::run(p, none);
    if (v.wrong.empty()) {
        std::cout << "seed " << p.seed << ": hash " << std::hex << v.hash << '\n';
        return 0;
    }
    report(p, v);
    return 1;
}

int run_sessions(const arguments& a)
{
    namespace sessions = leasehold::test::sessions;
    const sessions::selection which{.seeds = a.seeds,
                                    .from = a.from,
                                    .limit = a.limit,
                                    .seed = a.seed,
                                    .trace = a.trace,
                                    .only = a.only};
    return a.mutants ? sessions::find_errors(which) : sessions::run_selected(which);
}

} // namespace

int main(int argc, char** argv)
try {
    const arguments a = parse(argc, argv);
    if (a.session)
        return run_sessions(a);
    if (a.mutants)
        return run_mutants(a);
    if (!a.regressions.empty())
        return sim::run_regressions(sim::read_regressions(a.regressions)) == 0 ? 0 : 1;
    if (!a.seed && a.plan.empty())
        return run_seeds(a);
    return run_one(a);
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n' << usage;
    return 2;
}
