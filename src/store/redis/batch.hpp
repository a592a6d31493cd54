#ifndef LEASEHOLD_SRC_STORE_REDIS_BATCH_HPP
#define LEASEHOLD_SRC_STORE_REDIS_BATCH_HPP

#include "core/async/context_poster.hpp"
#include "store/redis/protocol/reply.hpp"
#include "store/redis/protocol/script.hpp"

#include <leasehold/clock.hpp>
#include <leasehold/store.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/redis/adapter/any_adapter.hpp>
#include <boost/redis/request.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
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

/// One script call of a batch, who waits for it, and what the server answered.
struct command
{
    std::variant<store::acquire_handler, renew_part, store::release_handler> waiting;
    const script* called = nullptr;
    std::size_t begin = 0; ///< Its place in the request.
    std::size_t end = 0;
    std::size_t expects = 0;  ///< How many numbers its script answers with.
    std::uint32_t fences = 0; ///< Asked for; of an acquire that takes the lock.
    unsigned attempts = 0;
    reply answer;
};

class batch;

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

    void acquire(const acquire_request& wanted, std::int64_t latest,
                 std::chrono::milliseconds retention, store::acquire_handler handler);
    void renew(std::span<const renewal> renewals, renew_part part);
    void release(const release_request& wanted, store::release_handler handler);

    /// Adds a command of another batch again, whose script the server did not have.
    void repeat(const batch& from, command& asked);

    /// The lock that a command is about, the first of several.
    std::string_view key_of(const command& asked) const;

    void clear();

    /// Destroys the handlers; the commands may still be under way.
    void forget_who_waits() noexcept;
    bool empty() const noexcept { return commands.empty(); }

    /// To be called before it is handed to a connection.
    void start(std::shared_ptr<batch_owner> owner, std::shared_ptr<context_poster> home);
    boost::redis::any_adapter adapter();
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
    command& add(Waiting waiting, const script& called, std::size_t begin, std::size_t expects);
    void on_reply();

    std::shared_ptr<context_poster> home_;
    std::atomic<std::size_t> answered_ = 0;
    std::atomic<bool> announced_ = false;
    std::string key_;
    std::string numbers_;
    std::vector<std::string_view> words_;
};

} // namespace leasehold::redis_store

#endif
