#ifndef LEASEHOLD_TEST_SIM_SCRIPT_INVARIANTS_HPP
#define LEASEHOLD_TEST_SIM_SCRIPT_INVARIANTS_HPP

#include "testing/server/lock_request.hpp"
#include "testing/server/message.hpp"
#include "testing/server/redis_model.hpp"
#include "testing/server/verbs.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::test {

/// Invariants of each call of a script, whatever the keys contain. The simulated server and a real
/// one run the same scripts, so their comparison does not reveal a mistake in a script.
class script_invariants
{
public:
    explicit script_invariants(testing::impl::redis_model& model) : model_(model) {}

    /// To be called before the model runs the command.
    void before(testing::impl::words command);
    /// The invariant that the command has broken; empty: none.
    [[nodiscard]] std::string after(testing::impl::words command,
                                    const testing::impl::message& said);

private:
    [[nodiscard]] std::vector<std::string> holders(std::string_view name);
    [[nodiscard]] bool holds(std::string_view owner);
    [[nodiscard]] bool promises(std::string_view name);
    [[nodiscard]] std::string after_group(const testing::impl::message& said);
    [[nodiscard]] std::string after_renewal(testing::impl::words command,
                                            const testing::impl::message& said);
    [[nodiscard]] std::string after_grant(const testing::impl::lock_effect& effect);
    void forget_fences(testing::impl::words command);

    testing::impl::redis_model& model_;
    // The state before the command.
    std::optional<testing::impl::lock_request> asked_;
    std::vector<std::string> holders_;
    bool promised_ = false; ///< The lock ends early if the holder sends no heartbeat.
    std::int64_t left_ = 0; ///< TTL.
    /// Each release of a group, with the holders of its name.
    std::vector<std::pair<testing::impl::lock_request, std::vector<std::string>>> group_;

    /// The last granted fence, by counter.
    std::map<std::string, std::uint64_t, std::less<>> fences_;
};

} // namespace leasehold::test

#endif
