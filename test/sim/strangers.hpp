#ifndef LEASEHOLD_TEST_SIM_STRANGERS_HPP
#define LEASEHOLD_TEST_SIM_STRANGERS_HPP

#include "sim/checks.hpp"
#include "sim/trial.hpp"

#include <deque>
#include <string>

namespace leasehold::test::sim {

/// Lets the strangers of the plan ask for their locks.
class strangers
{
public:
    strangers(trial& of, checks& judge) : trial_(of), checks_(judge) {}

    void schedule();

private:
    struct visitor
    {
        const stranger* plan;
        name_state* name;
        std::string value{}; ///< What it has set; empty: it has not the lock.
    };

    void ask(visitor& who);
    void leave(visitor& who);

    trial& trial_;
    checks& checks_;
    std::deque<visitor> all_; ///< They stay where they are.
};

} // namespace leasehold::test::sim

#endif
