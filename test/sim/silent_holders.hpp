#ifndef LEASEHOLD_TEST_SIM_SILENT_HOLDERS_HPP
#define LEASEHOLD_TEST_SIM_SILENT_HOLDERS_HPP

#include "sim/trial.hpp"
#include "testing/lock_request.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold::test::sim {

/// Whether a holder that has promised to be alive, and of whose client nothing was heard for its
/// grace, is superseded when somebody waits, whatever has become of it: dead, stopped or cut off.
///
/// The server says when a sign of life ran, and what whoever waits was told by its last look; that
/// says when it has to look again.
class silent_holders
{
public:
    explicit silent_holders(trial& of) noexcept : trial_(of) {}

    void follow_server();

    /// Looks whether one is there still that should not be.
    void probe();

private:
    /// Of a client that waits for a name.
    struct look
    {
        std::string owner;
        clock::time_point when;
        clock::duration next;   ///< The one after it comes so much later, at the latest.
        clock::duration behind; ///< And then this long after a silence that it was told of.
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
    std::map<std::pair<std::string, std::string>, look> looks_;   ///< By client and name.
    std::map<std::string, clock::time_point, std::less<>> alive_; ///< Each client, last.
};

} // namespace leasehold::test::sim

#endif
