#ifndef LEASEHOLD_SRC_REDIS_COMMANDS_COMMAND_SET_HPP
#define LEASEHOLD_SRC_REDIS_COMMANDS_COMMAND_SET_HPP

#include "redis/protocol/reply.hpp"
#include "redis/protocol/script.hpp"

#include <leasehold/store.hpp>

#include <boost/redis/request.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace leasehold::redis_store {

/// The expected form of an answer. An answer of another form belongs to another command, and so
/// may all later answers. The pipeline then closes the connection.
enum class answer_form : std::uint8_t
{
    numbers, ///< A list of integers.
    number,  ///< One integer.
    text,    ///< A string or null.
    number_or_numbers,
};

/// The commands, one or two, that were written for one request.
struct call
{
    static constexpr std::size_t most_commands = 2;

    const script* called = nullptr; ///< Sent as text if the server does not have it.
    std::size_t expects = 0;        ///< Length of the script's answer.
    std::size_t commands = 1;
    std::array<answer_form, most_commands> forms{};
    std::uint32_t fences = 0; ///< Requested fences; 0 except for an acquire of the lock.
    bool draws = false;       ///< One later command draws its fences and those of other acquires.
    std::uint32_t shares = 0; ///< Of such a draw: the number of acquires that share it.
    std::uint64_t floor = 0;  ///< Its fences must be larger than this.
    std::uint32_t name = 0;   ///< The key of the name in `contended_names`.
    std::uint16_t slot = 0;   ///< The slot of the name, in a cluster.
    bool fast_path = false;   ///< Fast path: the slow path may have to follow.
    bool checks_queue_beside = false; ///< A fast path that names a second key, which may not exist.
    bool gets = false;                ///< A fast path whose answer is the previous value.
    bool holds = false; ///< The fast path before it has acquired the lock, or found its owner.
    bool needs_holder = false;
    std::uint32_t raises = 0; ///< Number of the server whose fence counter a grant raises; 0: none.
    bool takes = false;       ///< It may acquire: its undo must not be executed before it.
    bool undoes = false;      ///< It may undo: its first number is 0 if there was nothing to undo.
};

class release_group;

using answers = std::span<const reply>;

/// The meaning of the answers to a call. With an error, the reply has no meaning.
template <class Reply>
struct parsed
{
    error_code code;
    Reply reply;
    std::optional<std::int64_t> server_us{}; ///< The server's time, in microseconds.
    bool holder_hidden = false;              ///< This user may not read the holder of a lock.
};

/// A layout: writes the commands for requests that were checked before, and reads their answers.
/// Called on the strand. Reuses its memory.
class command_set
{
public:
    command_set() = default;
    command_set(const command_set&) = delete;
    command_set& operator=(const command_set&) = delete;
    virtual ~command_set() = default;

    /// The features of a store with this layout.
    [[nodiscard]] virtual store_traits traits() const noexcept = 0;

    /// The scripts that the server must run.
    [[nodiscard]] virtual const script_set& scripts() const noexcept = 0;

    /// Begins a new connection.
    /// @returns The number of calls that the server must answer before the first request.
    [[nodiscard]] virtual std::size_t greetings() { return 0; }
    /// Writes one of these calls.
    virtual call greeting(std::size_t number, boost::redis::request& to)
    {
        static_cast<void>(number);
        static_cast<void>(to);
        return {};
    }
    /// Reads the answer to it. `refused`: the code of an error in the answer.
    /// @returns An error if the server cannot be used.
    [[nodiscard]] virtual error_code greeted(std::size_t number, answers replies,
                                             error_code refused)
    {
        static_cast<void>(number);
        static_cast<void>(replies);
        return refused;
    }

    /// After the last of these: whether each request of an earlier connection has been executed or
    /// never will be.
    [[nodiscard]] virtual bool settled() const noexcept { return false; }

    /// Sets the time; called before each acquire.
    /// @param server_us Lower bound of the server's time, in microseconds; 0: unknown.
    virtual void it_is(std::int64_t server_us) noexcept { static_cast<void>(server_us); }

    // These append one call to `to`.
    /// @param latest The server's time until which the lock may be granted, in microseconds; 0: no
    ///               limit.
    virtual call acquire(const acquire_request& request, std::int64_t latest,
                         boost::redis::request& to) = 0;
    virtual call renew(std::span<const renewal> renewals, boost::redis::request& to) = 0;
    /// @param latest The same for the owner of `next`.
    virtual call release(const release_request& request, std::int64_t latest,
                         boost::redis::request& to) = 0;

    /// Whether one script may execute the release together with others.
    [[nodiscard]] virtual bool groups(const release_request& request) const
    {
        static_cast<void>(request);
        return false;
    }
    /// Writes that script. Its answer has a number for each release.
    virtual call release_all(const release_group& group, boost::redis::request& to)
    {
        static_cast<void>(group);
        static_cast<void>(to);
        return {};
    }
    /// Reads that number. Nothing: nothing was done, and the slow path must follow.
    [[nodiscard]] virtual std::optional<release_reply> released_in_group(std::int64_t number) const
    {
        static_cast<void>(number);
        return std::nullopt;
    }
    /// Writes the slow path of such a release.
    virtual call slow_release(const release_request& request, boost::redis::request& to)
    {
        static_cast<void>(request);
        static_cast<void>(to);
        return {};
    }

    /// The number of fences to draw after that acquire; 0: the acquire draws them itself.
    [[nodiscard]] virtual std::uint32_t draws(const acquire_request& request) const
    {
        static_cast<void>(request);
        return 0;
    }
    /// Draws the fences of several acquires with one command.
    virtual void draw(std::uint64_t fences, boost::redis::request& to)
    {
        static_cast<void>(fences);
        static_cast<void>(to);
    }

    /// Whether the slow path must follow, by the answers of the fast path.
    [[nodiscard]] virtual bool goes_on(const call& made, answers replies)
    {
        static_cast<void>(made);
        static_cast<void>(replies);
        return false;
    }

    /// Writes the call of the slow path.
    /// @param written The words of the first command of the fast path.
    virtual call go_on(const call& made, answers replies, std::span<const std::string_view> written,
                       boost::redis::request& to)
    {
        static_cast<void>(replies);
        static_cast<void>(written);
        static_cast<void>(to);
        return made;
    }

    // These read answers of which the first is not an error.
    [[nodiscard]] virtual parsed<acquire_reply> acquired(const call& made, answers replies) = 0;
    /// Sets each of `results`. Returns an error if the answer has no results.
    [[nodiscard]] virtual error_code renewed(answers replies,
                                             std::span<renewal_result> results) const = 0;
    [[nodiscard]] virtual parsed<release_reply> released(const call& made, answers replies) = 0;
};

} // namespace leasehold::redis_store

#endif
