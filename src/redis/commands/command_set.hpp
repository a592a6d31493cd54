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

/// What the server is to answer to a command. An answer of another form belongs to something else,
/// and what comes after it may as well: it ends the connection.
enum class answer_form : std::uint8_t
{
    numbers, ///< A list of whole numbers.
    number,  ///< One.
    text,    ///< A text, or nothing.
    number_or_numbers,
};

/// What one request has become: a command or two.
struct call
{
    static constexpr std::size_t most_commands = 2;

    const script* called = nullptr; ///< May be missing on the server, and is then sent as text.
    std::size_t expects = 0;        ///< How many numbers its script answers with.
    std::size_t commands = 1;
    std::array<answer_form, most_commands> forms{};
    std::uint32_t fences = 0;  ///< Asked for; of an acquire that takes the lock.
    bool draws = false;        ///< They are drawn behind it, with those of others; see `told`.
    std::uint32_t shares = 0;  ///< Of a draw: how many get a share.
    std::uint64_t floor = 0;   ///< Its fences have to be larger.
    std::uint32_t name = 0;    ///< What the layout knows the lock by, if it has to.
    std::uint16_t slot = 0;    ///< Where the lock is, in a cluster.
    bool short_way = false;    ///< There is another way to the same end, which may have to follow.
    bool looks_beside = false; ///< A short way that names a key that may not exist.
    bool gets = false;         ///< A short way whose answer is what there was before.
    bool took = false;         ///< By the short way before it: the owner has the lock.
    bool asks_holder = false;
    std::uint32_t raises = 0; ///< A grant does what the greeting of that number could not.
    bool takes = false;       ///< As an acquire: what undoes it must not run before it.
    bool undoes = false; ///< As a release: its first number is 0 when there was nothing to undo.
};

using answers = std::span<const reply>;

/// What the answers to a call say. With an error nothing is known but that.
template <class Reply>
struct said
{
    error_code code;
    Reply reply;
    std::optional<std::int64_t> server_us{}; ///< The time at the server.
    bool holder_hidden = false;              ///< This user may not look who holds a lock.
};

/// How a lock is kept in keys, and what is said to the server of it. Requests are checked before.
/// All on the strand; keeps memory for the next.
class command_set
{
public:
    command_set() = default;
    command_set(const command_set&) = delete;
    command_set& operator=(const command_set&) = delete;
    virtual ~command_set() = default;

    /// What the store can do with it.
    [[nodiscard]] virtual store_traits traits() const noexcept = 0;

    /// What has to run at the server.
    [[nodiscard]] virtual const script_set& scripts() const noexcept = 0;

    /// A server is there: how many calls are to be answered before anything is asked of it.
    [[nodiscard]] virtual std::size_t greetings() { return 0; }
    /// Writes the call of that number.
    virtual call greeting(std::size_t number, boost::redis::request& to)
    {
        static_cast<void>(number);
        static_cast<void>(to);
        return {};
    }
    /// Takes the answer to it. `refused`: what an error there means.
    /// @returns Why nothing can be asked of that server.
    [[nodiscard]] virtual error_code greeted(std::size_t number, answers told, error_code refused)
    {
        static_cast<void>(number);
        static_cast<void>(told);
        return refused;
    }

    /// After the last of these: what was sent to the server over an earlier connection has run, or
    /// never will.
    [[nodiscard]] virtual bool settled() const noexcept { return false; }

    /// Said before each acquire.
    /// @param server_us What the server's clock shows at the least, in microseconds; 0: not known.
    virtual void it_is(std::int64_t server_us) noexcept { static_cast<void>(server_us); }

    // These write one call at the end of `to`.
    /// @param latest The server's time until which it may be granted, in microseconds; 0: any.
    virtual call acquire(const acquire_request& asked, std::int64_t latest,
                         boost::redis::request& to) = 0;
    virtual call renew(std::span<const renewal> asked, boost::redis::request& to) = 0;
    /// @param latest Of the owner that joins by it.
    virtual call release(const release_request& asked, std::int64_t latest,
                         boost::redis::request& to) = 0;

    /// How many fences have to be drawn behind that acquire; 0: it draws them itself.
    [[nodiscard]] virtual std::uint32_t draws(const acquire_request& asked) const
    {
        static_cast<void>(asked);
        return 0;
    }
    /// Draws them, for several at once.
    virtual void draw(std::uint64_t fences, boost::redis::request& to)
    {
        static_cast<void>(fences);
        static_cast<void>(to);
    }

    /// The answers call for the other way to the same end.
    [[nodiscard]] virtual bool goes_on(const call& made, answers told)
    {
        static_cast<void>(made);
        static_cast<void>(told);
        return false;
    }

    /// Takes it.
    /// @param written The words of the call's first command.
    virtual call go_on(const call& made, answers told, std::span<const std::string_view> written,
                       boost::redis::request& to)
    {
        static_cast<void>(told);
        static_cast<void>(written);
        static_cast<void>(to);
        return made;
    }

    // These read answers the first of which is no error.
    [[nodiscard]] virtual said<acquire_reply> acquired(const call& made, answers told) = 0;
    /// One result for each of `results`; an error when the answer says nothing of them.
    [[nodiscard]] virtual error_code renewed(answers told,
                                             std::span<renewal_result> results) const = 0;
    [[nodiscard]] virtual said<release_reply> released(const call& made, answers told) = 0;
};

} // namespace leasehold::redis_store

#endif
