#include "chaos/etcd.hpp"

#include "etcd/operator_client.hpp"
#include "etcd/protocol/json.hpp"
#include "etcd/protocol/key_names.hpp"
#include "support/etcd_ensemble.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace leasehold::test::chaos {
namespace {

using etcd_store::key_value;

constexpr const char* etcd_root = "locks";

class three_members final : public deployment
{
public:
    explicit three_members(std::vector<std::string> names) : names_(std::move(names)) {}

    client_way way() override
    {
        client_way made;
        for (std::size_t i = 0; i < etcd_ensemble::size; ++i)
            made.url += (i == 0 ? "etcd://127.0.0.1:" : ",127.0.0.1:") +
                        std::to_string(made.add(loopback_endpoint(servers_.at(i).port())));
        // Shorter than the lease time, so that the session ends each lease.
        made.url += std::string("/") + etcd_root + "?session=2000&timeout=500&reconnect=20";
        return made;
    }

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
        // The leader as often as a follower.
        const std::size_t first = leader();
        struck_ = (first + (what.detail % 2 == 0 ? 0 : 1 + what.detail / 2 % 2)) %
                  etcd_ensemble::size;
        noted.whom = (struck_ == first ? "leader " : "follower ") + std::to_string(struck_);
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

    std::vector<std::string> left_over() override
    {
        std::vector<std::string> all;
        for (const key_value& each : at(0).keys(std::string(etcd_root) + '/'))
            all.push_back("key " + each.key);
        return all;
    }

private:
    [[nodiscard]] operator_client at(std::size_t member)
    {
        return operator_client("etcd://" + servers_.at(member).address());
    }

    [[nodiscard]] std::size_t leader()
    {
        for (std::size_t i = 0;; i = (i + 1) % etcd_ensemble::size) {
            const auto status = etcd_store::json::parse(at(i).ask("maintenance/status", "{}"));
            if ((*status)["leader"].text() == (*status)["header"]["member_id"].text())
                return i;
        }
    }

    void remove_holder(const std::string& name)
    {
        operator_client as_operator = at(0);
        const auto queue = as_operator.keys(etcd_store::lock_prefix(etcd_root, name));
        const auto first = std::min_element(
            queue.begin(), queue.end(),
            [](const key_value& a, const key_value& b) { return a.created < b.created; });
        // The holder may release the lock meanwhile.
        if (first != queue.end())
            as_operator.remove(first->key);
    }

    const std::vector<std::string> names_;
    etcd_ensemble servers_;
    std::size_t struck_ = 0; ///< The member with the fault.
};

} // namespace

std::unique_ptr<deployment> start_etcd(const std::vector<std::string>& names)
{
    return std::make_unique<three_members>(names);
}

} // namespace leasehold::test::chaos
