#ifndef LEASEHOLD_TOOL_DOCTOR_ENSEMBLE_HPP
#define LEASEHOLD_TOOL_DOCTOR_ENSEMBLE_HPP

#include "report.hpp"

#include "../failures.hpp"
#include "trial.hpp"

#include "base/connection_config.hpp"

#include <leasehold/store.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The common part of the checks of ZooKeeper and etcd.
namespace leasehold::tool::doctor {

/// A remedy for a connection that fails.
/// @param on_missing_tls If the server does not use TLS at this port.
[[nodiscard]] std::string advice_on_connection(std::string_view why, const char* on_missing_tls);

/// Examines each server of a configuration by itself.
/// @param ask    Returns the facts about one server.
/// @param advice A remedy for a server that cannot be used for a reason.
/// @returns Empty: no server can be used, which `to` reports as a problem.
template <class Facts, class Config, class Ask>
std::vector<Facts> ask_each(const Config& admin, Ask ask, std::string (*advice)(std::string_view),
                            findings& to)
{
    std::vector<Facts> all;
    for (const auto& each : admin.addresses) {
        const auto cannot_be_used = [&](const std::string& why) {
            to.push_back({level::warning, "reachable", detail::host_and_port(each.host, each.port),
                          why, "Clients cannot use this server.", advice(why)});
        };
        Config one = admin;
        one.addresses = {each};
        try {
            all.push_back(ask(one));
        }
        catch (const unreachable& failed) {
            cannot_be_used(failed.what());
        }
        catch (const refused& failed) {
            cannot_be_used(failed.what());
        }
    }
    if (all.empty()) {
        for (finding& each : to)
            each.how_bad = level::problem;
    }
    return all;
}

/// Acquires and releases the lock `key`.
/// @param no_right The server's text for a missing right.
void try_lock_in(std::shared_ptr<store> where, const std::string& key, std::string_view no_right,
                 std::string (*advice)(std::string_view), findings& to);

} // namespace leasehold::tool::doctor

#endif
