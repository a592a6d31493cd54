#include "chaos/zookeeper.hpp"

#include "chaos/ensemble.hpp"
#include "support/zookeeper_ensemble.hpp"
#include "zookeeper/operator_session.hpp"
#include "zookeeper/protocol/node_names.hpp"
#include "zookeeper/store/queue_view.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace leasehold::test::chaos {
namespace {

using namespace zookeeper_store;

constexpr const char* root = "/locks";

class three_servers final : public ensemble_deployment<zookeeper_ensemble>
{
public:
    /// The first server keeps clients longest that it serves without a leader.
    explicit three_servers(std::vector<std::string> names)
        : ensemble_deployment(std::move(names), std::array{20, 5, 5})
    {}

    client_way way() override
    {
        // Shorter than the lease time, so that the session ends each lease.
        return way_of("zookeeper", std::string(root) + "?session=1000&tick=" +
                                       std::to_string(zookeeper_server::tick.count()) +
                                       "&timeout=500&reconnect=20");
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
    [[nodiscard]] std::string operator_url()
    {
        return "zookeeper://" + servers().addresses() + "?session=60000&tick=200&timeout=10000";
    }

    target choose(std::uint64_t detail) override
    {
        const std::size_t chosen = detail % zookeeper_ensemble::size;
        return {chosen, servers().at(chosen).mode()};
    }

    void remove_holder(const std::string& name) override
    {
        operator_session as_operator(operator_url());
        const std::string folder = lock_node(root, name);
        const queue_view queue(as_operator.children(folder));
        // The holder may release the lock meanwhile.
        if (!queue.empty())
            as_operator.ask(remove_node(folder + '/' + queue.first().name));
    }
};

} // namespace

std::unique_ptr<deployment> start_zookeeper(const std::vector<std::string>& names)
{
    return std::make_unique<three_servers>(names);
}

} // namespace leasehold::test::chaos
