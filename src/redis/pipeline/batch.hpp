#ifndef LEASEHOLD_SRC_REDIS_PIPELINE_BATCH_HPP
#define LEASEHOLD_SRC_REDIS_PIPELINE_BATCH_HPP

#include "core/async/context_poster.hpp"
#include "redis/commands/command_set.hpp"
#include "redis/commands/release_group.hpp"
#include "redis/protocol/reply.hpp"

#include <leasehold/clock.hpp>
#include <leasehold/store.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/redis/adapter/any_adapter.hpp>
#include <boost/redis/request.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace leasehold::redis_store {

/// A renewal of many locks by several commands.
struct renew_job
{
    store::renew_handler handler;
    std::vector<renewal_result> results;
    std::shared_ptr<const diagnostics> details; ///< Of a failed command.
    std::size_t outstanding = 0;                ///< Number of commands without an answer.
    bool any_ran = false;
    error_code error; ///< Of a command that was not executed.
};

/// The part of it that one command sends.
struct renew_part
{
    std::shared_ptr<renew_job> job;
    std::size_t first = 0;
    std::size_t count = 0;

    /// Failed, unless the answer says otherwise.
    [[nodiscard]] std::span<renewal_result> results() const
    {
        return std::span(job->results).subspan(first, count);
    }
    /// The last answer completes the renewal.
    void answered(error_code code, std::shared_ptr<const diagnostics> more) const;
};

struct command;

/// A caller that waits for the numbers of a script's answer.
struct asker
{
    using answered = asio::any_completion_handler<void(error_code, std::span<const std::int64_t>,
                                                       std::shared_ptr<const diagnostics>)>;
    answered handler;

    void complete(const command& one, error_code code, std::shared_ptr<const diagnostics> more);
};

/// The callers of releases that one script executes.
using grouped = std::unique_ptr<release_group>;

/// No caller: the acquires whose fences it draws share the answer.
struct draw
{};

/// A command beside the requests of a store. Its failure has no effect on them.
struct aside
{
    using answered = asio::any_completion_handler<void(error_code, answers)>;
    answered handler;

    /// The server's errors are answers.
    void complete(const command& one, error_code code);
};

/// One call of a batch, with its caller and its answers.
struct command
{
    std::variant<store::acquire_handler, renew_part, store::release_handler, asker, draw, aside,
                 grouped>
        waiting;
    call made;
    std::size_t begin = 0; ///< Its bytes in the request: from `begin` to `end`.
    std::size_t end = 0;
    unsigned attempts = 0;
    bool asking = false;     ///< ASKING precedes it: the slot migrates to the node.
    bool granted = false;    ///< ASKING was answered.
    bool put_behind = false; ///< It may acquire, and is sent after a command that may undo it.
    bool undrawn = false;    ///< It, or a command before it, gets its fences from a later draw.
    std::size_t got = 0;     ///< Number of answers to its commands.
    std::array<reply, call::most_commands> replies;

    /// The answers to its commands, followed by its share of a draw.
    [[nodiscard]] answers used_replies() const noexcept
    {
        return std::span(replies).first(made.commands + (made.draws ? 1 : 0));
    }

    /// The error of the server; empty if there is none.
    [[nodiscard]] const std::string& error() const noexcept { return replies.front().error; }

    /// It may acquire a lock, or a position in the queue. A release must not be executed before it.
    [[nodiscard]] bool takes() const noexcept;
    /// It is such a release.
    [[nodiscard]] bool undoes() const noexcept;

    /// The fast path of a renewal has found the lock, and its entries are at the other node of a
    /// migrating slot, which would miss the lock. Newer servers answer TRYAGAIN.
    [[nodiscard]] bool is_divided() const;

    /// The command is sent again, and completes with its first result.
    void keep_numbers();
};

/// The release is sent again, and completes with its first result.
void keep(store::release_handler& handler, const release_reply& first);

class batch;
class request_channel;

/// Receives the results of a batch, on its own strand.
class batch_owner
{
public:
    /// More commands have been answered; others are still outstanding.
    virtual void on_answers(const std::shared_ptr<batch>& sent) = 0;
    /// No more answers will arrive. `unanswered`: the error of the commands without an answer.
    virtual void on_end(const std::shared_ptr<batch>& sent, error_code unanswered) = 0;

protected:
    ~batch_owner() = default;
};

/// Commands that are sent together and answered one by one.
/// The strand fills it and reads the answers. The executor of the connection stores them.
class batch : public std::enable_shared_from_this<batch>
{
public:
    batch();

    /// Adds a command. `write` appends it to the request, and returns the `call`. `asking`: the
    /// slot migrates to the node.
    template <class Waiting, class Write>
    command& add(Waiting waiting, Write write, bool asking = false)
    {
        const std::size_t begin = begin_command(asking);
        return add(std::move(waiting), write(request), begin, asking);
    }

    /// Reserves memory for that many more bytes.
    void reserve(std::size_t bytes);

    /// Adds a command of another batch again, because the server did not have its script, or was
    /// not ready for it.
    command& repeat(const batch& from, command& one);

    /// Called before an acquire that needs a draw of that many fences. One draw serves only
    /// acquires with the same number, so another number draws for the acquires so far.
    void before_draw_of(std::uint32_t fences, command_set& keys);

    /// Adds a release that is written later, together with others.
    void add_to_group(const release_request& one, store::release_handler handler,
                      command_set& keys);

    /// Called before a request for that name, and before renewals with an empty name: writes the
    /// releases that may have to be executed before.
    void before_request_for(std::string_view name, command_set& keys);

    /// Adds the draw for the acquires so far, and the releases that are not written yet. Called
    /// before the batch is sent.
    void complete(command_set& keys);

    /// The releases that are not written yet. Null: none.
    grouped releases;

    /// Adds the slow path of a call of another batch.
    command& go_on(const batch& from, command& one, command_set& keys);

    /// Adds the slow path of a release of a group.
    void leave(release_group& group, std::size_t index, command_set& keys);

    /// The first key of a command.
    std::string_view key_of(const command& one) const;

    /// Whether the command has that key.
    bool names(const command& one, std::string_view key) const;

    /// A command for that key was put behind a later one, and is not answered yet.
    bool has_put_behind(std::string_view key) const;

    void clear();

    /// Whether a command is incomplete, because memory was exhausted. The batch must not be sent:
    /// its answers would be matched to other commands.
    bool torn() const noexcept { return torn_; }

    /// Destroys the handlers. The commands may still be outstanding.
    void forget_who_waits() noexcept;

    /// Called before the batch is sent.
    void start(std::shared_ptr<batch_owner> owner, std::shared_ptr<detail::context_poster> poster);
    boost::redis::any_adapter adapter();
    /// Sends it through a connection, which is kept until the owner is notified of the end.
    static void execute(const std::shared_ptr<batch>& sent,
                        const std::shared_ptr<request_channel>& through);
    std::size_t answered() const noexcept { return answered_.load(std::memory_order_acquire); }

    boost::redis::request request;
    std::vector<command> commands;
    std::size_t handled = 0;            ///< Number of answers that the owner has processed.
    std::shared_ptr<batch_owner> owner; ///< Set while it is outstanding.
    clock::time_point deadline;         ///< Used by the owner.
    bool abandoned = false;             ///< Used by the owner.
    std::uint64_t sent_before = 0;      ///< Used by the transport.
    asio::cancellation_signal abandon;  ///< Used by the transport.

private:
    template <class Waiting>
    command& add(Waiting waiting, const call& made, std::size_t begin, bool asking)
    {
        command& added = commands.emplace_back(); // cannot throw: the memory is reserved
        added.waiting = std::move(waiting);
        added.made = made;
        added.begin = begin;
        added.end = request.payload().size();
        added.asking = asking;
        if (made.draws && undrawn_++ == 0)
            first_undrawn_ = commands.size() - 1;
        torn_ = false;
        return added;
    }

    std::size_t begin_command(bool asking);
    std::vector<std::string_view> keys_of(const command& one) const;
    void draw_fences(command_set& keys);
    void write_releases(command_set& keys);
    void on_reply();
    void share(std::size_t drawn);

    std::shared_ptr<detail::context_poster> poster_;
    std::atomic<std::size_t> answered_ = 0;
    std::atomic<bool> announced_ = false;
    std::vector<std::string_view> words_;
    std::size_t read_ = 0; ///< Number of received answers; used by the connection's executor.
    std::uint32_t undrawn_ = 0;
    std::size_t first_undrawn_ = 0;
    bool torn_ = false; ///< Also true while a command is written.
};

} // namespace leasehold::redis_store

#endif
