#ifndef LEASEHOLD_TEST_CHAOS_ENSEMBLE_HPP
#define LEASEHOLD_TEST_CHAOS_ENSEMBLE_HPP

#include "chaos/deployment.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::test::chaos {

/// Three servers of ZooKeeper or etcd. One at a time is killed, stopped, or cut off from the
/// others. An operator removes holders.
/// @tparam Ensemble An `ensemble_of` servers.
template <class Ensemble>
class ensemble_deployment : public deployment
{
public:
    [[nodiscard]] std::string request_text() const override { return {}; }

    std::vector<fault_kind> faults() override
    {
        return {fault_kind::kill_member, fault_kind::stop_member, fault_kind::cut_member,
                fault_kind::delete_key};
    }

    bool loses(fault_kind kind) const override { return kind == fault_kind::delete_key; }

    void begin(const planned_fault& what, fault& noted) override
    {
        if (what.kind == fault_kind::delete_key) {
            noted.name = names_[what.detail % names_.size()];
            return remove_holder(noted.name);
        }
        const target chosen = choose(what.detail);
        struck_ = chosen.server;
        noted.whom = chosen.role + ' ' + std::to_string(struck_);
        switch (what.kind) {
        case fault_kind::kill_member: return servers_.at(struck_).kill();
        case fault_kind::stop_member: return servers_.at(struck_).pause();
        case fault_kind::cut_member: return servers_.cut_off(struck_);
        default: return;
        }
    }

    void end(const planned_fault& what, fault&) override
    {
        switch (what.kind) {
        case fault_kind::kill_member: servers_.at(struck_).start(); break;
        case fault_kind::stop_member: servers_.at(struck_).resume(); break;
        case fault_kind::cut_member: servers_.heal(struck_); break;
        default: return;
        }
        servers_.wait_until_ready();
    }

protected:
    /// The server that gets a fault.
    struct target
    {
        std::size_t server;
        std::string role; ///< In the ensemble.
    };

    template <class... Settings>
    explicit ensemble_deployment(std::vector<std::string> names, const Settings&... of_servers)
        : names_(std::move(names)), servers_(of_servers...)
    {}

    /// The URL of a client. It reaches each server by a proxy.
    client_way way_of(const std::string& scheme, const std::string& rest)
    {
        client_way made;
        for (std::size_t i = 0; i < Ensemble::size; ++i)
            made.url += (i == 0 ? scheme + "://127.0.0.1:" : ",127.0.0.1:") +
                        std::to_string(made.add(loopback_endpoint(servers_.at(i).port())));
        made.url += rest;
        return made;
    }

    [[nodiscard]] Ensemble& servers() noexcept { return servers_; }

private:
    [[nodiscard]] virtual target choose(std::uint64_t detail) = 0;
    virtual void remove_holder(const std::string& name) = 0;

    const std::vector<std::string> names_;
    Ensemble servers_;
    std::size_t struck_ = 0; ///< The server with the fault.
};

} // namespace leasehold::test::chaos

#endif
