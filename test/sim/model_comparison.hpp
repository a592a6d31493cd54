#ifndef LEASEHOLD_TEST_SIM_MODEL_COMPARISON_HPP
#define LEASEHOLD_TEST_SIM_MODEL_COMPARISON_HPP

#include "redis/protocol/script.hpp"
#include "testing/server/redis_model.hpp"
#include "testing/time/random.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace leasehold::test {

class resp_client;

using command = std::vector<std::string>;

/// The requests to the model and a real server, whose replies are compared.
struct comparison
{
    std::function<command(testing::impl::generator&, std::chrono::microseconds now)> any_command;
    /// The name of the script that is called, with keys.
    std::function<std::string(const command&)> script_of;
    /// The count's name behind the kind of command: the beginning of a reply that is no error.
    std::function<std::string(const std::string& kind, const command&, const std::string& told)>
        beginning;
    /// Called before the first command. May be empty.
    std::function<void(resp_client&, testing::impl::redis_model&)> prepare{};
    std::vector<std::string> rights;   ///< The user sometimes lacks some of these rights.
    std::vector<std::string> channels; ///< With subscribers.
    std::vector<std::string> expected; ///< Replies of scripts that must occur often.
};

/// By its hash, or by its text.
[[nodiscard]] bool calls(const command& asked, const redis_store::script& which);

/// Sends the same commands to both, step by step.
void compare(const comparison& how, std::initializer_list<std::uint64_t> seeds);

/// Gives the model the run id of the real server, for `comparison::prepare`.
void name_run(resp_client& server, testing::impl::redis_model& model);

/// The reply of the model.
[[nodiscard]] testing::impl::message execute(testing::impl::redis_model& model,
                                             const command& asked, std::chrono::microseconds now);

/// In the format of the comparison.
[[nodiscard]] std::string said_by(const testing::impl::message& said);

} // namespace leasehold::test

#endif
