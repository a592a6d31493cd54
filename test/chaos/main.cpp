// Chaos on real servers: clients in processes of their own, a nemesis that causes faults, and a
// checker that reads the histories.
#include "chaos/boot_time.hpp"
#include "chaos/checker.hpp"
#include "chaos/controls.hpp"
#include "chaos/deployment.hpp"
#include "chaos/progress.hpp"
#include "chaos/round.hpp"
#include "chaos/round_page.hpp"
#include "chaos/save.hpp"
#include "chaos/table.hpp"
#include "chaos/timeline.hpp"
#include "report/page.hpp"
#include "support/command_line.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace leasehold::test::chaos;
using leasehold::test::bad_argument;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr char usage[] =
    R"(usage: chaos [--topology NAME] [--minutes M] [--seed S] [--deployment NAME]
             [--keep DIRECTORY] [--html FILE] [--controls]

  --topology NAME    server: one server (default)
                     sentinel: a master, two replicas, three Sentinels
                     cluster: three masters with a replica each
                     redlock: a quorum of five masters
                     postgres: a server, and a primary with a synchronous standby
                     mysql: a MariaDB server
                     zookeeper, etcd: an ensemble of three servers
  --minutes M        duration of all deployments together; 0.1 ... 1440 (1)
  --seed S           determines the order of the faults (default: random)
  --deployment NAME  only one:
                     server: none, always or everysec, the mode of its append-only file
                     sentinel, cluster: all (replicas confirm each lock); redlock: five
                     postgres: one, pair; mysql: one; zookeeper, etcd: three
  --promises         the clients use dead_holder_grace, and longer leases
  --keep DIRECTORY   writes the records of the clients, the faults and the register of each round
  --html FILE        draws the last round as a page: around its first violation, or its last seconds
  --controls         only the negative controls: of the fences, of confirmation

The clients record each step, and write to a register under their locks. The checker reads both:

  - No two valid leases exist at the same time, and no lock ends early. A fault that loses data
    may cause either, and is counted.
  - Each fence is granted once, and fences rise in the order of the grants.
  - Losses are reported in time, and every operation ends.
  - After the last fault, each client acquires its locks again, and no lock is orphaned.

These faults lose data: FLUSHALL, a deleted key, and a killed server that does not write everything
to disk. Behind Sentinel and in a cluster, all replicas confirm each lock, so no lock may be lost.
In a quorum, one member at a time fails: a lease may be lost when it is emptied, but two clients
never hold a lock. PostgreSQL and MariaDB keep what they have confirmed, unless their tables are
emptied or a row is changed. ZooKeeper and etcd keep it unless the node or key of a lock is
removed.
)";

struct arguments
{
    double minutes = 1;
    std::optional<std::uint64_t> seed{};
    std::string topology = "server";
    std::string only{};
    std::string keep{};
    std::string html{};
    bool promises = false;
    bool controls = false;
};

double number_of_minutes(const std::string& text)
{
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !(value >= 0.1 && value <= 1440))
        throw bad_argument("--minutes", text, "a number from 0.1 to 1440");
    return value;
}

std::string name_of_topology(const std::string& text)
{
    std::string allowed;
    for (const deployment_kind& each : deployment_kinds()) {
        if (each.topology == text)
            return text;
        if (!allowed.ends_with(each.topology))
            allowed.append(allowed.empty() ? "" : ", ").append(each.topology);
    }
    throw bad_argument("--topology", text, allowed);
}

std::vector<deployment_kind> chosen(const arguments& from)
{
    std::vector<deployment_kind> out = deployments_of(from.topology);
    std::string allowed;
    for (const deployment_kind& each : out)
        allowed.append(allowed.empty() ? "" : " or ").append(each.option);
    if (!from.only.empty())
        std::erase_if(out, [&](const deployment_kind& each) { return each.option != from.only; });
    if (out.empty())
        throw bad_argument("--deployment", from.only, allowed);
    return out;
}

[[noreturn]] void print_usage()
{
    std::cout << usage;
    std::exit(0);
}

arguments parse(int count, char** words)
{
    arguments out;
    leasehold::test::command_line()
        .value("--minutes", [&](const std::string& text) { out.minutes = number_of_minutes(text); })
        .number("--seed", out.seed)
        .value("--topology",
               [&](const std::string& text) { out.topology = name_of_topology(text); })
        .value("--deployment", out.only)
        .value("--keep", out.keep)
        .value("--html", out.html)
        .flag("--promises", out.promises)
        .flag("--controls", out.controls)
        .flag("--help", print_usage)
        .flag("-h", print_usage)
        .read(count, words);
    if (out.promises && out.topology != "server")
        throw bad_argument("--topology", out.topology, "server with --promises");
    return out;
}

volatile std::sig_atomic_t stop_signal = 0;

/// SIGINT or SIGTERM: everything that was started is ended during the unwinding.
struct interrupted
{};

void on_signal(int number)
{
    stop_signal = number;
}

class conductor
{
public:
    explicit conductor(const arguments& from)
        : args_(from), seed_(from.seed.value_or(std::random_device()())), chosen_(chosen(from))
    {
        for (const deployment_kind& each : chosen_)
            results_.emplace_back(each.title, report());
    }

    int run()
    {
        std::cout << "chaos, " << args_.topology << ", seed " << seed_ << std::endl;
        bool good = true;
        if (!args_.controls)
            good = run_rounds();
        std::vector<control> controls;
        if (good) {
            controls = control_fences(
                chosen_.front(), seed_, [&](const client_fleet&, std::size_t) {
                    stop_if_told();
                    progress_.say([] { return std::string("control of the fences"); });
                });
            for (control& each : control_confirmation(
                     chosen_.front(), seed_, [&](const client_fleet&, std::size_t) {
                         stop_if_told();
                         progress_.say([] { return std::string("control of confirmation"); });
                     }))
                controls.push_back(std::move(each));
            if (!args_.controls)
                controls.push_back(control_checker(last_records(), 200, seed_));
        }
        progress_.end_line();
        if (!args_.controls) {
            std::cout << '\n';
            print_table(std::cout, results_);
        }
        std::cout << '\n';
        for (const control& each : controls) {
            std::cout << (each.passed ? "control passed: "
                                      : "CONTROL FAILED, this run proves nothing: ")
                      << each.text << '\n';
            good = good && each.passed;
        }
        std::cout << (good ? "no violations" : "FAILED") << ", seed " << seed_ << std::endl;
        return good ? 0 : 1;
    }

private:
    bool run_rounds()
    {
        const auto all = std::chrono::duration_cast<milliseconds>(
            std::chrono::duration<double, std::ratio<60>>(args_.minutes));
        const auto kinds = static_cast<std::int64_t>(chosen_.size());
        const milliseconds longest_round = chosen_.front().longest_round;
        const std::int64_t cycles = std::max<std::int64_t>(1, (all + kinds * longest_round - 1ms) /
                                                                  (kinds * longest_round));
        const std::int64_t rounds = cycles * kinds;
        const auto begun = std::chrono::steady_clock::now();
        for (std::int64_t i = 0; i < rounds; ++i) {
            // The time for the beginning and the end of a round is taken from the later rounds.
            const auto spent = std::chrono::duration_cast<milliseconds>(
                std::chrono::steady_clock::now() - begun);
            const auto length = std::max<milliseconds>((all - spent) / (rounds - i) - 1500ms, 1s);
            if (!run_one(static_cast<std::size_t>(i) % chosen_.size(),
                         static_cast<std::uint64_t>(i), length))
                return false;
        }
        return true;
    }

    bool run_one(std::size_t index, std::uint64_t number, milliseconds length)
    {
        const deployment_kind& on = chosen_[index];
        const round_settings how{.on = on,
                                 .clients = {.seed = seed_ + number * 1'000'003,
                                             .clients = 5,
                                             .names = {"a", "b", "c", "d"},
                                             .lease = on.lease,
                                             .workers = 4,
                                             .replica_acks = on.replica_acks,
                                             .promises = args_.promises},
                                 .length = length};
        const auto begun = boot_time();
        record all = run_round(how, [&](const client_fleet& clients, std::size_t faults) {
            stop_if_told();
            progress_.say([&] {
                char text[160];
                std::snprintf(text, sizeof text,
                              "round %llu, %-15s %5.1f s: %4zu faults, %7llu grants, %5llu losses",
                              static_cast<unsigned long long>(number + 1), on.title.data(),
                              static_cast<double>((boot_time() - begun).count()) / 1e9, faults,
                              static_cast<unsigned long long>(clients.grants()),
                              static_cast<unsigned long long>(clients.losses()));
                return std::string(text);
            });
        });
        if (!args_.keep.empty())
            save(all, std::filesystem::path(args_.keep) /
                          (std::to_string(number + 1) + '-' + std::string(on.option)));
        const report found = check(all);
        if (!args_.html.empty())
            leasehold::report::write_page_file(args_.html,
                                               page_of(all, found, std::string(on.title)));
        results_[index].second += found;
        if (!found.violations.empty())
            complain(all, found, how, on);
        records_[index] = std::move(all);
        return found.violations.empty();
    }

    void complain(const record& all, const report& found, const round_settings& how,
                  const deployment_kind& on)
    {
        constexpr std::size_t most = 20;
        progress_.end_line();
        std::cout << '\n'
                  << on.title << ": " << found.violations.size()
                  << " violations; this round alone: --topology " << on.topology << " --deployment "
                  << on.option << " --seed " << how.clients.seed << '\n';
        for (std::size_t i = 0; i < std::min(most, found.violations.size()); ++i) {
            const violation& each = found.violations[i];
            std::cout << "  " << name_of(each.broken)
                      << (each.name.empty() ? "" : ", lock " + each.name) << ": " << each.text
                      << '\n';
        }
        std::cout << "\naround the first of them:\n";
        print_timeline(std::cout, all, found.violations.front());
    }

    std::vector<record> last_records() const
    {
        std::vector<record> all;
        for (const auto& [which, each] : records_)
            all.push_back(each);
        return all;
    }

    static void stop_if_told()
    {
        if (stop_signal != 0)
            throw interrupted();
    }

    const arguments args_;
    const std::uint64_t seed_;
    progress progress_;
    const std::vector<deployment_kind> chosen_;
    std::vector<std::pair<std::string, report>> results_;
    std::map<std::size_t, record> records_; ///< The last record of each deployment.
};

} // namespace

int main(int count, char** words)
try {
    const arguments args = parse(count, words);
    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);
    return conductor(args).run();
}
catch (const bad_argument& wrong) {
    std::cerr << "error: " << wrong.what() << '\n' << usage;
    return 2;
}
catch (const interrupted&) {
    std::cerr << "\ninterrupted; everything it had started has been ended\n";
    return 128 + stop_signal;
}
catch (const std::exception& failure) {
    std::cerr << "\nerror: " << failure.what() << '\n';
    return 1;
}
