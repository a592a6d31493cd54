#include "chaos/save.hpp"

#include <fstream>
#include <stdexcept>

namespace leasehold::test::chaos {

void save(const record& run, const std::filesystem::path& directory)
{
    std::filesystem::create_directories(directory);
    const auto open = [&](const std::string& name) {
        std::ofstream file(directory / name);
        if (!file)
            throw std::runtime_error("cannot write " + (directory / name).string());
        return file;
    };
    for (const history& client : run.clients) {
        auto file = open(client.client);
        for (const event& each : client.events)
            file << to_line(each);
    }
    auto faults = open("faults");
    for (const fault& each : run.faults)
        faults << each.begin.count() << ' ' << each.end.count() << ' ' << each.whom
               << (each.loses ? " loses " : " keeps ") << (each.name.empty() ? "-" : each.name)
               << ' ' << each.what << '\n';
    faults << run.healed.count() << " healed\n";
    for (const auto& [name, writes] : run.writes) {
        auto file = open("register-" + name);
        for (const write& each : writes)
            file << each.fence << ' ' << each.value << ' ' << each.client << ' ' << each.op << '\n';
    }
}

} // namespace leasehold::test::chaos
