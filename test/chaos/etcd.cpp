#include "chaos/etcd.hpp"

#include "chaos/ensemble.hpp"
#include "etcd/operator_client.hpp"
#include "etcd/protocol/json.hpp"
#include "etcd/protocol/key_names.hpp"
#include "support/etcd_ensemble.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace leasehold::test::chaos {
namespace {

using etcd_store::key_value;

constexpr const char* etcd_root = "locks";

class three_members final : public ensemble_deployment<etcd_ensemble>
{
public:
    explicit three_members(std::vector<std::string> names) : ensemble_deployment(std::move(names))
    {}

    client_way way() override
    {
        // Shorter than the lease time, so that the session ends each lease.
        return way_of("etcd",
                      std::string("/") + etcd_root + "?session=2000&timeout=500&reconnect=20");
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
        return operator_client("etcd://" + servers().at(member).address());
    }

    /// The leader as often as a follower.
    target choose(std::uint64_t detail) override
    {
        const std::size_t first = leader();
        if (detail % 2 == 0)
            return {first, "leader"};
        return {(first + 1 + detail / 2 % 2) % etcd_ensemble::size, "follower"};
    }

    [[nodiscard]] std::size_t leader()
    {
        for (std::size_t i = 0;; i = (i + 1) % etcd_ensemble::size) {
            const auto status = etcd_store::json::parse(at(i).ask("maintenance/status", "{}"));
            if ((*status)["leader"].text() == (*status)["header"]["member_id"].text())
                return i;
        }
    }

    void remove_holder(const std::string& name) override
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
};

} // namespace

std::unique_ptr<deployment> start_etcd(const std::vector<std::string>& names)
{
    return std::make_unique<three_members>(names);
}

} // namespace leasehold::test::chaos
