#include "contender.hpp"
#include "machine.hpp"
#include "measurements.hpp"
#include "report/page.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace leasehold::benchmark;

struct measurement
{
    std::string_view name;
    section (*measure)(const setting&);
};

constexpr std::array<measurement, 8> measurements{{
    {"distinct_keys", &distinct_keys},
    {"handoff", &handoff},
    {"held", &held},
    {"waiters", &waiters},
    {"server_cost", &server_cost},
    {"contention", &contention},
    {"deployments", &deployments},
    {"stores", &stores},
}};

struct arguments
{
    setting where;
    std::string json;
    std::string html;
    std::vector<std::string> chosen;
};

[[noreturn]] void refuse(const std::string& why)
{
    std::cerr
        << "error: " << why
        << "\nusage: leasehold_benchmark --redis SOCKET [--quick] [--json FILE] [--html FILE]\n"
           "                           [MEASUREMENT...]\n"
           "                           [--deployment NAME URL SOCKET,SOCKET...]...\n"
           "                           [--store NAME URL PEER COMMAND]...\n";
    std::exit(2);
}

std::vector<std::string> split(const std::string& list)
{
    std::vector<std::string> out;
    std::istringstream words(list);
    for (std::string word; std::getline(words, word, ',');)
        out.push_back(word);
    return out;
}

arguments parse(const std::vector<std::string>& words)
{
    arguments out;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        const auto value = [&] {
            if (i + 1 == words.size())
                refuse(word + " needs a value");
            return words[++i];
        };
        if (word == "--redis")
            out.where.socket = value();
        else if (word == "--deployment") {
            deployment one;
            one.name = value();
            one.url = value();
            one.sockets = split(value());
            out.where.deployments.push_back(std::move(one));
        }
        else if (word == "--store") {
            lock_server one;
            one.name = value();
            one.url = value();
            one.peer = value();
            one.peer_command = value();
            out.where.stores.push_back(std::move(one));
        }
        else if (word == "--json")
            out.json = value();
        else if (word == "--html")
            out.html = value();
        else if (word == "--quick")
            out.where.quick = true;
        else if (std::any_of(measurements.begin(), measurements.end(),
                             [&](const measurement& m) { return m.name == word; }))
            out.chosen.push_back(word);
        else
            refuse("unknown argument \"" + word +
                   "\"; measurements: distinct_keys, handoff, held, waiters, server_cost, "
                   "contention, deployments, stores");
    }
    if (out.where.socket.empty())
        refuse("--redis SOCKET is missing");
    const bool wanted = std::find(out.chosen.begin(), out.chosen.end(), "deployments") !=
                        out.chosen.end();
    if (wanted && out.where.deployments.empty())
        refuse("deployments: --deployment NAME URL SOCKET,SOCKET... is missing");
    // Without those that need several servers.
    if (out.chosen.empty())
        for (const measurement& each : measurements)
            if (each.name != "deployments" && each.name != "stores")
                out.chosen.emplace_back(each.name);
    return out;
}

} // namespace

int main(int count, char** words)
{
    try {
        // A process of a contest, started by this program.
        if (count > 1 && std::string_view(words[1]) == "--contender")
            return contend(std::vector<std::string>(words + 2, words + count), std::cout);
        const arguments given = parse(std::vector<std::string>(words + 1, words + count));
        const facts about = machine(given.where.socket);
        print(std::cout, about);
        std::vector<section> sections;
        for (const measurement& each : measurements) {
            if (std::find(given.chosen.begin(), given.chosen.end(), each.name) ==
                given.chosen.end())
                continue;
            sections.push_back(each.measure(given.where));
            print(std::cout, sections.back());
            std::cout.flush();
        }
        if (!given.html.empty()) {
            std::ostringstream figures;
            write_json(figures, about, sections);
            leasehold::report::write_page_file(given.html, figures.str());
        }
        if (!given.json.empty()) {
            std::ofstream file(given.json);
            write_json(file, about, sections);
            if (!file.flush()) {
                std::cerr << "error: cannot write " << given.json << '\n';
                return 1;
            }
        }
    }
    catch (const std::exception& error) {
        std::cerr << "error: " << error.what() << '\n';
        return 1;
    }
    return 0;
}
