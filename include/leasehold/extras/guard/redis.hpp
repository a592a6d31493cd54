#ifndef LEASEHOLD_EXTRAS_GUARD_REDIS_HPP
#define LEASEHOLD_EXTRAS_GUARD_REDIS_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/detail/initiation.hpp>
#include <leasehold/extras/guard/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace boost::redis {
class connection;
}

namespace leasehold::guard {

/// Commands for a Redis server that run only if no larger fence has run any before.
///
/// One script compares the fence with the stored one, stores the larger, and runs the commands. The
/// stored fence has its own key. All writers of the same data must use the same key.
///
/// All keys must be in one slot of a Redis Cluster, like `{stock:7}:fence` and `{stock:7}`, which
/// have the same text in their first braces. This is checked on every server, so that a later move
/// to a cluster succeeds.
///
/// The key of a fence is never removed. Do not let it expire: a holder that was paused for longer
/// would be accepted again.
class redis_write
{
public:
    /// Maximum number of words of a command.
    static constexpr std::size_t most_words = 4'000;

    /// @param fence_key The key of the fence. Its value is a text of digits.
    redis_write(std::string fence_key, std::uint64_t fence)
        : fence_(fence), keys_{std::move(fence_key)}
    {}

    /// Adds a command with one key, its first argument. Arguments are texts and integers. Example:
    /// `push("HSET", "{stock:7}", "left", 3)`.
    template <class... Arguments>
    redis_write& push(std::string_view command, std::string_view key, const Arguments&... arguments)
    {
        keys_.emplace_back(key);
        words_.push_back(std::to_string(sizeof...(arguments) + 1));
        words_.emplace_back(command);
        (words_.push_back(word(arguments)), ...);
        complete_ = complete_ && !command.empty() && sizeof...(arguments) < most_words;
        return *this;
    }

    /// As above, with a number of arguments that is known at run time.
    redis_write& push_words(std::string_view command, std::string_view key,
                            const std::vector<std::string>& arguments)
    {
        keys_.emplace_back(key);
        words_.push_back(std::to_string(arguments.size() + 1));
        words_.emplace_back(command);
        words_.insert(words_.end(), arguments.begin(), arguments.end());
        complete_ = complete_ && !command.empty() && arguments.size() < most_words;
        return *this;
    }

    /// The fence of the writer.
    [[nodiscard]] std::uint64_t fence() const noexcept { return fence_; }

    /// Checks the write: `errc::invalid_fence`, `errc::invalid_write` if it has no command, or one
    /// without a name or with too many words, `errc::different_slots`, or success.
    [[nodiscard]] LEASEHOLD_REDIS_EXPORT error_code check() const;

    /// Returns the words of the command, starting with `EVAL` and the script, for another client
    /// library. Call `check()` first.
    [[nodiscard]] LEASEHOLD_REDIS_EXPORT std::vector<std::string> command() const;

private:
    static std::string word(std::string_view text) { return std::string(text); }
    template <std::integral Number>
        requires(!std::same_as<Number, bool> && !std::same_as<Number, char>)
    static std::string word(Number number)
    {
        return std::to_string(number);
    }

    std::uint64_t fence_;
    std::vector<std::string> keys_;
    std::vector<std::string> words_;
    bool complete_ = true;
};

/// The reply of the server to a write.
struct redis_answer
{
    std::uint64_t newest_fence = 0; ///< With `errc::stale_fence`: the newest fence.
    std::string text;               ///< The message of the server, if it replied with an error.
};

} // namespace leasehold::guard

namespace leasehold::detail {

using redis_connection_ptr = std::shared_ptr<boost::redis::connection>;
using guarded_write_handler = boost::asio::any_completion_handler<void(error_code)>;

[[nodiscard]] LEASEHOLD_REDIS_EXPORT boost::asio::any_io_executor executor_of(
    const redis_connection_ptr&) noexcept;
LEASEHOLD_REDIS_EXPORT void start_guarded_write(guarded_write_handler, redis_connection_ptr,
                                                const guard::redis_write&, guard::redis_answer*);

class guarded_write_initiation
{
public:
    using executor_type = boost::asio::any_io_executor;

    guarded_write_initiation(redis_connection_ptr connection, guard::redis_write write,
                             guard::redis_answer* answer)
        : connection_(std::move(connection)), write_(std::move(write)), answer_(answer)
    {}

    [[nodiscard]] executor_type get_executor() const noexcept { return executor_of(connection_); }

    template <class Handler>
    void operator()(Handler&& handler) const
    {
        start_guarded_write(guarded_write_handler(std::forward<Handler>(handler)), connection_,
                            write_, answer_);
    }

private:
    redis_connection_ptr connection_;
    guard::redis_write write_;
    guard::redis_answer* answer_;
};

template <class Token>
auto write_guarded(redis_connection_ptr connection, guard::redis_write what,
                   guard::redis_answer* answer, Token&& token)
{
    if constexpr (check_token<void(error_code), Token>())
        return boost::asio::async_initiate<Token, void(error_code)>(
            guarded_write_initiation(std::move(connection), std::move(what), answer), token);
}

} // namespace leasehold::detail

namespace leasehold::guard {

/// Runs the commands of a write in one step, unless a larger fence has written.
///
/// @param connection Already runs. The call must be made where `boost::redis::connection` may be
///     used: one thread at a time. The operation shares ownership of it.
/// @return What `token` determines. `co_await` with the default token returns nothing.
/// @par Signature
/// `void(error_code)`
/// @par Errors
///  - success: all commands were executed.
///  - `guard::errc::stale_fence`: a larger fence has written. Nothing was written.
///  - an error of `redis_write::check`: nothing was sent.
///  - `guard::errc::damaged_fence`: the key of the fence has another value. Nothing was written.
///  - `guard::errc::write_failed`: the fence was accepted and a command failed. The commands before
///    it were executed, those after it were not.
///  - `leasehold::errc`, if the server rejected the script: `permission_denied`, `wrong_type` (of
///    the key of the fence), `store_refused`, `not_supported`. Nothing was written.
///  - `leasehold::errc::outcome_unknown`: the reply of the server is unknown.
///  - an error of the connection: the write may have been executed. If a repeated write does no
///    harm, repeat it with the same fence.
/// @par Cancellation
/// As `async_exec` of the connection.
/// @par Completion
/// Never inside this call, on the handler's associated executor (default: the connection's).
template <class Token = boost::asio::deferred_t>
    requires(!std::same_as<std::remove_cvref_t<Token>, redis_answer>)
auto async_write(std::shared_ptr<boost::redis::connection> connection, redis_write write,
                 Token&& token = Token())
{
    return leasehold::detail::write_guarded(std::move(connection), std::move(write), nullptr,
                                            std::forward<Token>(token));
}

/// As above. `answer` must live until the handler is called or destroyed.
template <class Token = boost::asio::deferred_t>
auto async_write(std::shared_ptr<boost::redis::connection> connection, redis_write write,
                 redis_answer& answer, Token&& token = Token())
{
    return leasehold::detail::write_guarded(std::move(connection), std::move(write), &answer,
                                            std::forward<Token>(token));
}

} // namespace leasehold::guard

#endif
