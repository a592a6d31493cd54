#ifndef LEASEHOLD_TEST_CHAOS_REDLOCK_HPP
#define LEASEHOLD_TEST_CHAOS_REDLOCK_HPP

#include "chaos/deployment.hpp"
#include "support/quorum_deployment.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace leasehold::test::chaos {

/// Five independent masters that write every change to a file. Only one of them fails at a time, so
/// no two owners may hold a lock, even if a member loses its data. An owner that has the grants of
/// only a majority and loses one of them loses the lock.
class redlock final : public deployment
{
public:
    client_way way() override;
    std::vector<fault_kind> faults() override;
    bool loses(fault_kind) const override { return false; }
    bool forgets(fault_kind kind) const override { return kind == fault_kind::empty_member; }
    void begin(const planned_fault& what, fault& noted) override;
    void end(const planned_fault& what, fault& noted) override;
    std::vector<std::string> left_over() override;

private:
    static constexpr std::size_t members = 5;

    void wait_until_all_are_members();

    quorum_deployment servers_{members, {"--appendonly", "yes", "--appendfsync", "everysec"}};
    std::size_t struck_ = 0; ///< The member that fails.
};

} // namespace leasehold::test::chaos

#endif
