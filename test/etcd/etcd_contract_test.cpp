// The contract of stores, on an etcd server.
#include <boost/test/unit_test.hpp>

#include "etcd/operator_client.hpp"
#include "etcd/protocol/key_names.hpp"
#include "support/etcd_server.hpp"
#include "support/store_contract.hpp"

#include <leasehold/etcd.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace leasehold::etcd_store;

/// One server for all cases.
etcd_server& shared_server()
{
    static etcd_server only;
    return only;
}

class etcd_lab final : public store_lab
{
public:
    etcd_lab() : root_("lab" + std::to_string(++labs)) {}

    std::shared_ptr<store> make_store() override
    {
        return make_etcd_store(etcd_config("etcd://" + shared_server().address() + '/' + root_));
    }

    /// Removes the key that was created first.
    void erase(std::string_view name) override
    {
        const auto keys = operator_.keys(lock_prefix(root_, name));
        const auto first = std::min_element(
            keys.begin(), keys.end(),
            [](const key_value& a, const key_value& b) { return a.created < b.created; });
        if (first != keys.end())
            operator_.remove(first->key);
    }

    void wait_for_ended_clients() override
    {
        while (operator_.keys(clients_prefix(root_)).size() > 1)
            std::this_thread::yield();
    }

    void clear() override { operator_.clear(root_ + '/'); }

private:
    static inline int labs = 0;
    const std::string root_;
    operator_client operator_{"etcd://" + shared_server().address()};
};

const bool added = add_store_contract([] { return std::make_unique<etcd_lab>(); });

} // namespace
