#ifndef LEASEHOLD_TEST_SIM_EXTERNAL_CLIENTS_HPP
#define LEASEHOLD_TEST_SIM_EXTERNAL_CLIENTS_HPP

#include "sim/checks.hpp"
#include "sim/trial.hpp"

#include <deque>
#include <string>

namespace leasehold::test::sim {

/// Runs the external clients of the plan.
class external_clients
{
public:
    external_clients(trial& of, checks& judge) : trial_(of), checks_(judge) {}

    void schedule();

private:
    struct visitor
    {
        const external_client* plan;
        name_state* name;
        /// The value that the client has set. Empty: it does not hold the lock.
        std::string value{};
    };

    void ask(visitor& one);
    void leave(visitor& one);

    trial& trial_;
    checks& checks_;
    std::deque<visitor> all_; ///< Their addresses are stable.
};

} // namespace leasehold::test::sim

#endif
