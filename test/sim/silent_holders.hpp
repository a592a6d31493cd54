#ifndef LEASEHOLD_TEST_SIM_SILENT_HOLDERS_HPP
#define LEASEHOLD_TEST_SIM_SILENT_HOLDERS_HPP

#include "sim/trial.hpp"
#include "testing/server/lock_request.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold::test::sim {

/// Checks that a holder with heartbeats is superseded by a waiter if no heartbeat of its client
/// came for its grace, whether the client is dead, stopped or cut off.
///
/// The server reports when a heartbeat was executed, and the reply to each waiter's last poll,
/// which determines when it has to poll again.
class silent_holders
{
public:
    explicit silent_holders(trial& of) noexcept : trial_(of) {}

    void follow_server();

    /// Checks whether a holder still exists that should have been superseded.
    void probe();

private:
    /// The last poll of a client that waits for a name.
    struct look
    {
        std::string owner;
        clock::time_point when;
        clock::duration next;   ///< The latest time of the next poll after this one.
        clock::duration behind; ///< The latest time of the next poll after a reported silence.
        bool found_silent = false;
    };

    void looked(std::string_view name, const testing::impl::lock_effect& said);
    [[nodiscard]] bool waits(const process& p, const name_state& n, const look& last) const;
    [[nodiscard]] bool is_reliable() const noexcept;
    [[nodiscard]] std::optional<clock::time_point> silent_at(const name_state& n) const;
    [[nodiscard]] clock::time_point after(clock::time_point trouble) const;
    [[nodiscard]] std::string ms_since(clock::time_point when) const;
    void probe(const name_state& n);

    trial& trial_;
    std::map<std::pair<std::string, std::string>, look> looks_; ///< By client and name.
    /// The last heartbeat of each client.
    std::map<std::string, clock::time_point, std::less<>> alive_;
};

} // namespace leasehold::test::sim

#endif
