#ifndef LEASEHOLD_SRC_TESTING_SERVER_REDIS_MODEL_HPP
#define LEASEHOLD_SRC_TESTING_SERVER_REDIS_MODEL_HPP

#include "redis/protocol/script.hpp"
#include "testing/server/keyspace.hpp"
#include "testing/server/message.hpp"
#include "testing/server/reply_sink.hpp"
#include "testing/server/verbs.hpp"

#include <leasehold/testing/server.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::testing::impl {

/// The replies of a Redis server and its data: no connection, no clock, no wait. It knows the
/// commands that this library sends, those that its scripts call, and those with which a test reads
/// the data. It runs any script, with Redis's own interpreter.
class redis_model
{
public:
    /// @param now Microseconds since 1970, by the server's clock.
    /// @param when True time.
    message execute(words command, std::int64_t now, clock::time_point when);

    void forget_scripts() noexcept { scripts_.clear(); }

    /// Neither a user nor a script may run it.
    [[nodiscard]] bool is_denied(std::string_view command) const noexcept;
    /// Throws the error that prevents a write.
    void require_writable(bool takes_memory) const;

    keyspace data;
    std::string run_id = "1"; ///< Changes with each start.
    server::product product = server::product::redis_7;

    /// Returns the number of receivers.
    std::function<std::int64_t(std::string_view channel, std::string_view text)> publish;

    // Its faults.
    bool read_only = false; ///< As a replica.
    bool out_of_memory = false;
    bool cannot_save = false;             ///< Its disk is full.
    bool cluster = false;                 ///< Reported in its reply to HELLO.
    std::vector<std::string> unrenewable; ///< Names whose renewal fails.
    std::vector<std::string> denied;      ///< Commands that neither the user nor scripts may run.

private:
    using script_ptr = std::shared_ptr<const redis_store::script>;

    struct command_info;
    class script_commands;

    message answer(words command);
    [[nodiscard]] const command_info* find_command(std::string_view verb) const;
    void set(words command, reply_sink& out);
    void delete_if_equal(std::string_view key, std::string_view value, reply_sink& out);
    message hello(words command) const;
    [[nodiscard]] const char* version() const noexcept;
    message script(words command);
    message eval(words command);
    script_ptr load_script(std::string_view text);
    [[nodiscard]] script_ptr find_script(std::string_view sha) const;
    [[nodiscard]] message script_error(const std::string& sha, const std::string& error,
                                       int line) const;

    std::vector<script_ptr> scripts_; ///< The server's cache.
    std::int64_t now_ = 0;
};

} // namespace leasehold::testing::impl

#endif
