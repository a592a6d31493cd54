#ifndef LEASEHOLD_TEST_SIM_ACTORS_HPP
#define LEASEHOLD_TEST_SIM_ACTORS_HPP

#include "sim/checks.hpp"
#include "sim/trial.hpp"

namespace leasehold::test::sim {

/// Performs the operations of the plan as a program would.
class actors
{
public:
    actors(trial& of, checks& judge) noexcept : trial_(of), checks_(judge) {}

    /// Starts each operation at its time.
    void schedule();

    /// Cancels as its caller would: the wait for a lock, or for a release. `effect` is set if this
    /// ended something.
    static void cancel(actor& a, bool& effect);

private:
    template <class Handler>
    auto bound(actor& a, Handler handler);
    template <class F>
    auto once(process& client, int& due, F f);

    void begin(actor& a);
    void lock(actor& a);
    void guard(actor& a);
    static void note_cancelled(const actor& a, error_code failed) noexcept;
    static bool limited(const actor& a);
    void acquired(actor& a, error_code failed, lease held);
    void work(actor& a);
    void end_holds_of(const process& client);
    void watch_loss(actor& a, lease& held);
    void reenter(actor& a);
    void reentered(actor& a, process& p, error_code failed, lease held);
    void finish(actor& a);
    void leave(actor& a, lease& held, process& client, int& due);

    trial& trial_;
    checks& checks_;
};

} // namespace leasehold::test::sim

#endif
