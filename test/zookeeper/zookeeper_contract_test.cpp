// The contract of stores, on a ZooKeeper server.
#include <boost/test/unit_test.hpp>

#include "support/store_contract.hpp"
#include "support/zookeeper_server.hpp"
#include "zookeeper/operator_session.hpp"
#include "zookeeper/protocol/node_names.hpp"
#include "zookeeper/store/queue_view.hpp"

#include <leasehold/zookeeper.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace leasehold::zookeeper_store;

/// One server for all cases.
zookeeper_server& shared_server()
{
    static zookeeper_server only;
    return only;
}

std::string url_of(const std::string& root)
{
    return "zookeeper://" + shared_server().address() + root +
           "?session=10000&tick=" + std::to_string(zookeeper_server::tick.count());
}

class zookeeper_lab final : public store_lab
{
public:
    zookeeper_lab() : root_("/lab" + std::to_string(++labs)), operator_(url_of("")) {}

    std::shared_ptr<store> make_store() override
    {
        return make_zookeeper_store(zookeeper_config(url_of(root_)));
    }

    void erase(std::string_view name) override
    {
        const std::string folder = lock_node(root_, name);
        const queue_view queue(operator_.children(folder));
        if (!queue.empty())
            operator_.remove(folder + '/' + queue.first().name);
    }

    void wait_for_ended_clients() override
    {
        while (operator_.children(clients_node(root_)).size() > 1)
            std::this_thread::yield();
    }

    void clear() override { operator_.clear(root_); }

private:
    static inline int labs = 0;
    const std::string root_;
    operator_session operator_;
};

const bool added = add_store_contract([] { return std::make_unique<zookeeper_lab>(); });

} // namespace
