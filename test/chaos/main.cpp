// Chaos on real servers: clients in processes of their own, a nemesis that breaks what they use,
// and a checker that reads what they wrote.
#include "chaos/checker.hpp"
#include "chaos/controls.hpp"
#include "chaos/progress.hpp"
#include "chaos/round.hpp"
#include "chaos/save.hpp"
#include "chaos/table.hpp"
#include "chaos/timeline.hpp"
#include "support/command_line.hpp"

#include <algorithm>
#include <array>
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
    R"(usage: chaos [--minutes M] [--seed S] [--deployment NAME] [--keep DIRECTORY] [--controls]

  --minutes M        how long, all deployments together; 0.1 ... 1440 (1)
  --seed S           decides the order of the faults (drawn)
  --deployment NAME  one only: none, always, everysec (what a server writes to its append-only
                     file; default: all three)
  --keep DIRECTORY   write there what the clients wrote, the faults and the register, of every round
  --controls         only the negative control of the fences
)";

struct deployment
{
    persistence how;
    const char* option;
    const char* title;
};

constexpr std::array<deployment, 3> deployments = {{
    {persistence::none, "none", "no persistence"},
    {persistence::always, "always", "AOF always"},
    {persistence::everysec, "everysec", "AOF everysec"},
}};

/// So long that everything comes, so short that a record stays small; the end of a round is a test
/// of its own.
constexpr auto longest_round = 30s;

struct arguments
{
    double minutes = 1;
    std::optional<std::uint64_t> seed{};
    std::string only{};
    std::string keep{};
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

std::string name_of_deployment(const std::string& text)
{
    if (std::none_of(deployments.begin(), deployments.end(),
                     [&](const deployment& each) { return each.option == text; }))
        throw bad_argument("--deployment", text, "none, always or everysec");
    return text;
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
        .value("--deployment",
               [&](const std::string& text) { out.only = name_of_deployment(text); })
        .value("--keep", out.keep)
        .flag("--controls", out.controls)
        .flag("--help", print_usage)
        .flag("-h", print_usage)
        .read(count, words);
    return out;
}

volatile std::sig_atomic_t stop_signal = 0;

/// SIGINT or SIGTERM: everything that was started is ended on the way out.
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
        : args_(from), seed_(from.seed.value_or(std::random_device()()))
    {
        for (const deployment& each : deployments)
            if (args_.only.empty() || args_.only == each.option)
                chosen_.push_back(each);
        for (const deployment& each : chosen_)
            results_.emplace_back(each.title, report());
    }

    int run()
    {
        std::cout << "chaos, seed " << seed_ << std::endl;
        bool good = true;
        if (!args_.controls)
            good = run_rounds();
        std::vector<control> controls;
        if (good) {
            controls = control_fences(seed_, [&](const client_fleet&, std::size_t) {
                stop_if_told();
                progress_.say([] { return std::string("control of the fences"); });
            });
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
        const std::int64_t cycles = std::max<std::int64_t>(1, (all + kinds * longest_round - 1ms) /
                                                                  (kinds * longest_round));
        const std::int64_t rounds = cycles * kinds;
        const auto begun = std::chrono::steady_clock::now();
        for (std::int64_t i = 0; i < rounds; ++i) {
            // What a round takes for its beginning and its end is taken from those that follow.
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
        const deployment& on = chosen_[index];
        const round_settings how{.how = on.how,
                                 .clients = {.seed = seed_ + number * 1'000'003,
                                             .clients = 5,
                                             .names = {"a", "b", "c", "d"},
                                             .lease = 500ms,
                                             .workers = 4},
                                 .length = length};
        const auto begun = boot_time();
        record all = run_round(how, [&](const client_fleet& clients, std::size_t faults) {
            stop_if_told();
            progress_.say([&] {
                char text[160];
                std::snprintf(text, sizeof text,
                              "round %llu, %-14s %5.1f s: %4zu faults, %7llu grants, %5llu losses",
                              static_cast<unsigned long long>(number + 1), on.title,
                              static_cast<double>((boot_time() - begun).count()) / 1e9, faults,
                              static_cast<unsigned long long>(clients.grants()),
                              static_cast<unsigned long long>(clients.losses()));
                return std::string(text);
            });
        });
        if (!args_.keep.empty())
            save(all, std::filesystem::path(args_.keep) /
                          (std::to_string(number + 1) + '-' + on.option));
        const report found = check(all);
        results_[index].second += found;
        if (!found.violations.empty())
            complain(all, found, how, on);
        records_[index] = std::move(all);
        return found.violations.empty();
    }

    void complain(const record& all, const report& found, const round_settings& how,
                  const deployment& on)
    {
        constexpr std::size_t most = 20;
        progress_.end_line();
        std::cout << '\n'
                  << on.title << ": " << found.violations.size()
                  << " violations; this round alone: --deployment " << on.option << " --seed "
                  << how.clients.seed << '\n';
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
    std::vector<deployment> chosen_;
    std::vector<std::pair<std::string, report>> results_;
    std::map<std::size_t, record> records_; ///< The last one of each deployment.
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
