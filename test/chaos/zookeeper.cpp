#include "chaos/zookeeper.hpp"

#include "support/zookeeper_ensemble.hpp"
#include "zookeeper/operator_session.hpp"
#include "zookeeper/protocol/node_names.hpp"
#include "zookeeper/store/queue_view.hpp"

#include <cstddef>
#include <utility>

namespace leasehold::test::chaos {
namespace {

using namespace zookeeper_store;

constexpr const char* root = "/locks";

class three_servers final : public deployment
{
public:
    explicit three_servers(std::vector<std::string> names) : names_(std::move(names)) {}

    client_way way() override
    {
        client_way made;
        for (std::size_t i = 0; i < zookeeper_ensemble::size; ++i)
            made.url += (i == 0 ? "zookeeper://127.0.0.1:" : ",127.0.0.1:") +
                        std::to_string(made.add(loopback_endpoint(servers_.at(i).port())));
        // Shorter than the lease time, so that the session ends each lease.
        made.url += std::string(root) +
                    "?session=1000&tick=" + std::to_string(zookeeper_server::tick.count()) +
                    "&timeout=500&reconnect=20";
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
        struck_ = what.detail % zookeeper_ensemble::size;
        if (what.kind == fault_kind::delete_key) {
            noted.name = names_[what.detail % names_.size()];
            return remove_holder(noted.name);
        }
        noted.whom = servers_.at(struck_).mode() + ' ' + std::to_string(struck_);
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
        operator_session as_operator(operator_url());
        std::vector<std::string> all;
        for (const std::string& folder : as_operator.children(root)) {
            const std::string node = std::string(root) + '/' + folder;
            for (const std::string& each : as_operator.children(node))
                all.push_back("node " + node + '/' + each);
        }
        return all;
    }

private:
    [[nodiscard]] std::string operator_url() const
    {
        return "zookeeper://" + servers_.addresses() + "?session=60000&tick=200&timeout=10000";
    }

    void remove_holder(const std::string& name)
    {
        operator_session as_operator(operator_url());
        const std::string folder = lock_node(root, name);
        const queue_view queue(as_operator.children(folder));
        // The holder may release the lock meanwhile.
        if (!queue.empty())
            as_operator.ask(remove_node(folder + '/' + queue.first().name));
    }

    const std::vector<std::string> names_;
    // The first server keeps clients longest that it serves without a leader.
    zookeeper_ensemble servers_{{20, 5, 5}};
    std::size_t struck_ = 0;
};

} // namespace

std::unique_ptr<deployment> start_zookeeper(const std::vector<std::string>& names)
{
    return std::make_unique<three_servers>(names);
}

} // namespace leasehold::test::chaos
