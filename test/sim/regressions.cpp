#include "sim/regressions.hpp"

#include "sim/hunt.hpp"
#include "sim/mutants.hpp"
#include "sim/plan_text.hpp"
#include "sim/run.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace leasehold::test::sim {
namespace {

constexpr std::uint64_t worlds = 20;
constexpr std::uint64_t worlds_for_the_defect = 2000;

bool passes(const regression& r)
{
    coverage none;
    for (std::uint64_t i = 0; i < worlds; ++i) {
        const verdict v = run(r.in_world(i), none);
        if (v.wrong.empty())
            continue;
        std::printf("%-28s FAILS in world %llu: %s\n", r.file.c_str(),
                    static_cast<unsigned long long>(r.scenario.seed + i), v.wrong.c_str());
        return false;
    }
    if (r.finds == mutant::none) {
        std::printf("%-28s passes\n", r.file.c_str());
        return true;
    }
    const auto caught = hunt(r.finds, worlds_for_the_defect,
                             [&](std::uint64_t i) { return r.in_world(i); });
    // A crash on this machine may have no effect on the next one.
    const bool sure = caught.found && !caught.crashed;
    if (caught.crashed)
        std::printf("%-28s passes, but finds %s by a crash alone\n", r.file.c_str(),
                    name_of(r.finds));
    else if (!caught.found)
        std::printf("%-28s passes, but does NOT FIND %s any more\n", r.file.c_str(),
                    name_of(r.finds));
    else
        std::printf("%-28s passes; finds %s in world %llu: %s\n", r.file.c_str(), name_of(r.finds),
                    static_cast<unsigned long long>(caught.seeds), caught.how);
    return sure;
}

} // namespace

plan regression::in_world(std::uint64_t number) const
{
    plan other = scenario;
    other.seed += number;
    return other;
}

regression read_regression(const std::string& file)
{
    std::ifstream in(file);
    if (!in)
        throw std::invalid_argument("cannot read " + file);
    std::stringstream text;
    regression read;
    read.file = std::filesystem::path(file).filename().string();
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with("finds ")) {
            text << line << '\n';
            continue;
        }
        const auto known = mutant_of(line.substr(6));
        if (!known)
            throw std::invalid_argument(file + ": " + line);
        read.finds = *known;
    }
    read.scenario = plan_from_text(text);
    return read;
}

std::vector<regression> read_regressions(const std::string& directory)
{
    std::vector<std::filesystem::path> files;
    for (const auto& each : std::filesystem::directory_iterator(directory))
        if (each.path().extension() == ".plan")
            files.push_back(each.path());
    if (files.empty())
        throw std::invalid_argument("no plans in " + directory);
    std::sort(files.begin(), files.end());
    std::vector<regression> all;
    for (const auto& each : files)
        all.push_back(read_regression(each.string()));
    return all;
}

int run_regressions(const std::vector<regression>& all)
{
    int failed = 0;
    for (const regression& each : all)
        failed += passes(each) ? 0 : 1;
    return failed;
}

} // namespace leasehold::test::sim
