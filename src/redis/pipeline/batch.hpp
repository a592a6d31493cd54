#ifndef LEASEHOLD_SRC_REDIS_PIPELINE_BATCH_HPP
#define LEASEHOLD_SRC_REDIS_PIPELINE_BATCH_HPP

#include "core/async/context_poster.hpp"
#include "redis/commands/command_set.hpp"
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

/// A renewal of many locks that became several commands.
struct renew_job
{
    store::renew_handler handler;
    std::vector<renewal_result> results;
    std::shared_ptr<const diagnostics> details; ///< Of a command that failed.
    std::size_t outstanding = 0;                ///< Commands.
    bool any_ran = false;
    error_code error; ///< Of a command that did not run.
};

struct renew_part
{
    std::shared_ptr<renew_job> job;
    std::size_t first = 0;
    std::size_t count = 0;
};

/// What a layout says to a server before all else; nobody waits for it but the pipeline.
struct greeting
{
    unsigned server;    ///< The first that was there, the second, and so on.
    std::size_t number; ///< Of what is said to it.
};

/// Who waits for the numbers that a script answers with.
struct asker
{
    using answered = asio::any_completion_handler<void(error_code, std::span<const std::int64_t>,
                                                       std::shared_ptr<const diagnostics>)>;
    answered handler;
};

/// Nobody: its answer is shared by those whose fences it draws.
struct draw
{};

/// What is said beside the requests of a store, and harms nobody when it fails.
struct aside
{
    using answered = asio::any_completion_handler<void(error_code, answers)>;
    answered handler;
};

/// One script call of a batch, who waits for it, and what the server answered.
struct command
{
    std::variant<store::acquire_handler, renew_part, store::release_handler, greeting, asker, draw,
                 aside>
        waiting;
    call made;
    std::size_t begin = 0; ///< Its place in the request.
    std::size_t end = 0;
    unsigned attempts = 0;
    bool asking = false;     ///< A node that is given its slot is to serve it: ASKING is before it.
    bool granted = false;    ///< That was answered.
    bool put_behind = false; ///< It takes, and is sent later than what may undo it.
    bool undrawn = false;    ///< It, or one before it, gets its fences from a draw behind it.
    std::size_t got = 0;     ///< How many of its commands were answered.
    std::array<reply, call::most_commands> replies;

    /// The answers to its commands, and behind them its share of what was drawn.
    [[nodiscard]] answers told() const noexcept
    {
        return std::span(replies).first(made.commands + (made.draws ? 1 : 0));
    }

    /// What the server refused it with; empty: it did not.
    [[nodiscard]] const std::string& error() const noexcept { return replies.front().error; }
};

class batch;
class request_channel;

/// Who is told what became of a batch; on its strand.
class batch_owner
{
public:
    /// More commands have been answered; others are still outstanding.
    virtual void on_answers(const std::shared_ptr<batch>& sent) = 0;
    /// Nothing more will come; `unanswered` says why for those that were not answered.
    virtual void on_end(const std::shared_ptr<batch>& sent, error_code unanswered) = 0;

protected:
    ~batch_owner() = default;
};

/// Commands that go to the server in one piece, and are answered each by itself.
/// It is filled on the strand, answered where the connection runs, and read on the strand again.
class batch : public std::enable_shared_from_this<batch>
{
public:
    batch();

    /// Adds a command. `write` puts it at the end of the request that it is given, and returns the
    /// `call`. `asking`: the slot is on its way to the node.
    template <class Waiting, class Write>
    command& add(Waiting waiting, Write write, bool asking = false)
    {
        const std::size_t begin = begin_command(asking);
        return add(std::move(waiting), write(request), begin, asking);
    }

    /// Room for so many bytes more.
    void reserve(std::size_t bytes);

    /// Adds a command of another batch again: the server did not have its script, or it came too
    /// early.
    command& repeat(const batch& from, command& asked);

    /// An acquire comes next that wants so many fences drawn behind it. One draw is good for those
    /// that want equally many.
    void before_draw_of(std::uint32_t fences, command_set& keys);

    /// Draws what the acquires so far want.
    void draw_fences(command_set& keys);

    /// Adds the call that goes on with one of another batch.
    command& go_on(const batch& from, command& asked, command_set& keys);

    /// The lock that a command is about, the first of several.
    std::string_view key_of(const command& asked) const;

    /// It is about that key, beside others maybe.
    bool names(const command& asked, std::string_view key) const;

    void clear();

    /// There was no memory for all of a command that was being written. What is there must not be
    /// sent: its answers would belong to others.
    bool torn() const noexcept { return torn_; }

    /// Destroys the handlers; the commands may still be under way.
    void forget_who_waits() noexcept;
    bool empty() const noexcept { return commands.empty(); }

    /// To be called before it is handed to a connection.
    void start(std::shared_ptr<batch_owner> owner, std::shared_ptr<detail::context_poster> home);
    boost::redis::any_adapter adapter();
    /// Sends it through a connection, which is kept until the owner is notified of the end.
    static void execute(const std::shared_ptr<batch>& sent,
                        const std::shared_ptr<request_channel>& through);
    std::size_t answered() const noexcept { return answered_.load(std::memory_order_acquire); }

    boost::redis::request request;
    std::vector<command> commands;
    std::size_t handled = 0;            ///< How many answers the owner has passed on.
    std::shared_ptr<batch_owner> owner; ///< Set while it is under way.
    clock::time_point deadline;         ///< For the owner.
    bool abandoned = false;             ///< For the owner.
    std::uint64_t sent_before = 0;      ///< For the link that sends it.
    asio::cancellation_signal abandon;  ///< For the link that sends it.

private:
    template <class Waiting>
    command& add(Waiting waiting, const call& made, std::size_t begin, bool asking)
    {
        command& added = commands.emplace_back(); // there is room
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
    std::vector<std::string_view> keys_of(const command& asked) const;
    void on_reply();
    void share(std::size_t drawn);

    std::shared_ptr<detail::context_poster> home_;
    std::atomic<std::size_t> answered_ = 0;
    std::atomic<bool> announced_ = false;
    std::vector<std::string_view> words_;
    std::size_t read_ = 0; ///< Answers that have come; where the connection runs.
    std::uint32_t undrawn_ = 0;
    std::size_t first_undrawn_ = 0;
    bool torn_ = false; ///< While a command is written, too.
};

} // namespace leasehold::redis_store

#endif
