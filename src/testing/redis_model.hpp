#ifndef LEASEHOLD_SRC_TESTING_REDIS_MODEL_HPP
#define LEASEHOLD_SRC_TESTING_REDIS_MODEL_HPP

#include "testing/keyspace.hpp"
#include "testing/message.hpp"

#include <leasehold/testing/server.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::testing::impl {

/// The scripts of the library.
enum class known_script : std::uint8_t
{
    acquire,
    renew,
    release,
    line_acquire,
    line_leave,
    check, ///< What a new connection runs first.
    // Those of the layout `native`.
    native_acquire,
    native_release,
    native_leave,
    native_enter,
    native_renew,
    native_renew_brief,
    native_alive,
    native_raise, ///< What a new connection runs before it is asked for anything.
    native_check,
    // Those of the members of a quorum.
    quorum_acquire,
    quorum_enter,
    quorum_renew,
    quorum_release,
    quorum_look,
    quorum_adopt,
    quorum_seed,
    quorum_check,
    count_,
};

[[nodiscard]] constexpr bool is_native(known_script called) noexcept
{
    return called >= known_script::native_acquire && called <= known_script::native_check;
}

[[nodiscard]] constexpr bool is_of_quorum(known_script called) noexcept
{
    return called >= known_script::quorum_acquire;
}

/// The words of a command.
using words = std::span<const std::string_view>;

/// Which script a command calls: EVALSHA or EVAL, with locks to work on.
[[nodiscard]] std::optional<known_script> script_of(words command) noexcept;

/// What a Redis server answers to commands, and what becomes of its data: no connection, no clock,
/// nothing to wait for. It knows the commands that this library sends, and those that a test looks
/// at the data with. The scripts are models of the .lua files, line for line (`script_models.hpp`);
/// they are found by their hash, as on a server, so a script that was changed and whose model was
/// not is an error.
class redis_model
{
public:
    /// @param now Microseconds since 1970, by the server's clock.
    /// @param when True time.
    message execute(words command, std::int64_t now, clock::time_point when);

    void forget_scripts() noexcept { loaded_.fill(false); }
    [[nodiscard]] bool has_script(known_script called) const noexcept
    {
        return loaded_[static_cast<std::size_t>(called)];
    }

    /// As a user may not send it, nor a script run it.
    [[nodiscard]] bool is_denied(std::string_view command) const noexcept;
    /// Throws what keeps it from being written to.
    void require_writable(bool takes_memory) const;

    keyspace data;
    std::string run_id = "1"; ///< Another one whenever it has been started.
    server::product product = server::product::redis_7;

    /// Returns how many heard it.
    std::function<std::int64_t(std::string_view channel, std::string_view text)> publish;

    // What is wrong with it.
    bool read_only = false; ///< It is a replica.
    bool out_of_memory = false;
    bool cannot_save = false;             ///< Its disk is full.
    bool cluster = false;                 ///< Says so in its answer to HELLO.
    std::vector<std::string> unrenewable; ///< Names whose renewal fails.
    std::vector<std::string> denied;      ///< Commands that the user may not send, nor scripts run.

private:
    message answer(words command);
    std::optional<message> read(std::string_view verb, words command);
    std::optional<message> write(std::string_view verb, words command);
    message set(words command);
    message delete_if_equal(std::string_view key, std::string_view value);
    message hello(words command) const;
    [[nodiscard]] const char* version() const noexcept;
    message script(words command);
    message eval(words command);
    message run(known_script called, words keys, words arguments);

    std::array<bool, static_cast<std::size_t>(known_script::count_)> loaded_{};
    std::int64_t now_ = 0;
};

} // namespace leasehold::testing::impl

#endif
