#ifndef LEASEHOLD_TEST_SIM_SESSION_SESSION_PROMISES_HPP
#define LEASEHOLD_TEST_SIM_SESSION_SESSION_PROMISES_HPP

#include "sim/session/session_scene.hpp"

#include <map>
#include <vector>

namespace leasehold::test::sessions {

/// Checks the promises of the library by true time and by what the service has.
class promises
{
public:
    explicit promises(scene& of) : scene_(of) {}

    /// A lease was granted.
    void granted(actor& a);
    /// Its loss was reported.
    void lost(actor& a, error_code reason);
    /// A release has completed.
    void released(const actor& a, bool was_valid, error_code failed);

    /// After each event: no two hold a lock, losses are reported, and the first in a queue asks.
    void check();

    /// At the end, long after the last fault: each handler was called, and no lock is left.
    void check_end();

private:
    void check_holder(const actor& a);
    void check_queue(std::uint64_t name);
    [[nodiscard]] const process* process_of(session_id session) const;

    scene& scene_;
    std::vector<const actor*> holding_;
    std::array<const actor*, 2> holders_{};          ///< Of each name, during a check.
    std::map<std::uint64_t, std::uint64_t> highest_; ///< The largest fence of each name.
};

} // namespace leasehold::test::sessions

#endif
