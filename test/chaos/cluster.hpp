#ifndef LEASEHOLD_TEST_CHAOS_CLUSTER_HPP
#define LEASEHOLD_TEST_CHAOS_CLUSTER_HPP

#include "chaos/deployment.hpp"
#include "support/cluster_deployment.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace leasehold::test::chaos {

/// Three masters, each with a replica that confirms. No lock may be lost.
class cluster final : public deployment
{
public:
    explicit cluster(std::vector<std::string> names);

    client_way way() override;
    std::vector<fault_kind> faults() override;
    bool loses(fault_kind) const override { return false; }
    void begin(const planned_fault& what, fault& noted) override;
    void end(const planned_fault& what, fault& noted) override;
    std::vector<std::string> left_over() override;

private:
    void cut_off(redis_server& master);
    void wait_for_replica();
    void notify_all(const std::vector<std::string>& command);

    const std::vector<std::string> names_;
    cluster_deployment servers_;
    std::string key_;                      ///< The lock whose slot or master fails.
    std::size_t struck_ = 0;               ///< The server that fails.
    std::size_t next_ = 0;                 ///< The server that gets the slot.
    std::unique_ptr<resp_client> cut_off_; ///< A connection to a master that accepts no other one.
};

} // namespace leasehold::test::chaos

#endif
