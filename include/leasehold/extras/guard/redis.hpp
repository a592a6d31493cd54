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

/// Commands for a Redis server that run only when no larger fence has run any before.
///
/// They run in one script, which compares the fence with the one that is kept under a key of its
/// own, keeps the larger, and runs the commands. Give all writers of the same data the same key.
///
/// The key of the fence and those of the data are in one slot of a Redis Cluster: `{stock:7}:fence`
/// and `{stock:7}`, or whatever has the same text in its first braces. That is checked also when
/// the server is no cluster, so that it can become one.
///
/// Nothing removes the key of a fence. Do not let it expire: a holder that slept for longer would
/// be accepted again.
class redis_write
{
public:
    /// Words of a command, at most.
    static constexpr std::size_t most_words = 4'000;

    /// @param fence_key Where the fence is kept, as a text of digits.
    redis_write(std::string fence_key, std::uint64_t fence)
        : fence_(fence), keys_{std::move(fence_key)}
    {}

    /// Adds a command whose first argument is the one key that it uses, for example
    /// `push("HSET", "{stock:7}", "left", 3)`. Arguments are texts and numbers.
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

    /// The same with arguments that are counted at run time.
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

    /// That of the writer.
    [[nodiscard]] std::uint64_t fence() const noexcept { return fence_; }

    /// What is wrong with it: `errc::invalid_fence`, `errc::invalid_write` when it has no command,
    /// or one without a name or with too many words, `errc::different_slots`; success: nothing.
    [[nodiscard]] LEASEHOLD_REDIS_EXPORT error_code check() const;

    /// The command that does it, word by word: `EVAL`, the script, and so on. For a client of
    /// another library, which has `check()` to ask first.
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

/// What the server said of a write.
struct redis_answer
{
    std::uint64_t newest_fence = 0; ///< With `errc::stale_fence`: the one that has written.
    std::string text;               ///< The server's own words when it answered with an error.
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
/// @param connection Runs already, and is used where `boost::redis::connection` may be: one thread
/// at a time. It is kept alive by the operation.
/// @par Signature
/// `void(error_code)`
/// @par Errors
///  - success: all commands have run.
///  - `guard::errc::stale_fence`: a larger fence has written. Nothing was written.
///  - what `redis_write::check` says: nothing was sent.
///  - `guard::errc::damaged_fence`: the key of the fence holds another text. Nothing was written.
///  - `guard::errc::write_failed`: the fence was accepted; a command failed, those before it have
///  run, those after it have not.
///  - `leasehold::errc`, where the server refused the script: `permission_denied`, `wrong_type`
///  (of the key of the fence), `store_refused`, `not_supported`. Nothing was written.
///  - `leasehold::errc::outcome_unknown`: the server said something that is not known here.
///  - an error of the connection: it may have run or not. A write that may run twice can be
///  repeated with the same fence.
/// @par Cancellation
/// As that of `async_exec` of the connection.
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

/// As above; `answer` has to stay until the handler is called or destroyed.
template <class Token = boost::asio::deferred_t>
auto async_write(std::shared_ptr<boost::redis::connection> connection, redis_write write,
                 redis_answer& answer, Token&& token = Token())
{
    return leasehold::detail::write_guarded(std::move(connection), std::move(write), &answer,
                                            std::forward<Token>(token));
}

} // namespace leasehold::guard

#endif
