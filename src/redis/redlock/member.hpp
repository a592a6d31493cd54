#ifndef LEASEHOLD_SRC_REDIS_REDLOCK_MEMBER_HPP
#define LEASEHOLD_SRC_REDIS_REDLOCK_MEMBER_HPP

#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>
#include <leasehold/store.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::quorum {

using details_ptr = std::shared_ptr<const diagnostics>;

/// The server's reply, or the reason why there is no connection to it.
[[nodiscard]] inline std::string_view words_of(const details_ptr& details) noexcept
{
    if (!details)
        return {};
    return details->server_message.empty() ? details->connection_error : details->server_message;
}

/// Asks a member for a lock and offers it fences.
struct ballot
{
    std::string_view name;
    std::string_view owner;
    std::chrono::milliseconds lease;
    std::uint64_t first_fence;
    std::uint32_t fences;
    std::uint64_t epoch;
    std::chrono::milliseconds budget;
    bool only_ours;    ///< Does not acquire: the owner has the lock, or the reply is `held`.
    bool needs_holder; ///< As in `acquire_request`.
};

struct ballot_reply
{
    enum class outcome : std::uint8_t
    {
        accepted,    ///< The owner has the lock, and its fences are the largest.
        outbid,      ///< The owner has the lock; the fences are not larger than an earlier one.
        held,        ///< Another owner has it, for `remaining`. Negative: unknown.
        late,        ///< The request arrived after its budget.
        blank,       ///< It grants nothing before it is made a member.
        silent,      ///< It grants nothing for `remaining`.
        older_epoch, ///< It is in `epoch`.
        too_far,     ///< The fences are too far ahead of its clock.
    };
    outcome result = outcome::blank;
    std::uint64_t largest = 0; ///< The accepted fence, if reported.
    std::uint64_t epoch = 0;
    std::chrono::milliseconds remaining{};
    details_ptr details{}; ///< Of an error, or its holder.
};

/// Acquires a lock again.
struct reentry
{
    std::string_view name;
    std::string_view owner;
    std::string_view entry;
    std::chrono::milliseconds lease;
    std::chrono::milliseconds budget;
};

enum class reentered : std::uint8_t
{
    yes,
    late,
    gone, ///< The owner does not have the lock.
};

/// One lock to be renewed.
struct upkeep
{
    renewal what;
    bool create; ///< Takes the lock again if it is free, and adds a missing entry.
};

enum class kept : std::uint8_t
{
    failed,
    yes,
    gone,
    free, ///< The lock is free, or the owner has it without this entry.
};

struct release_answer
{
    release_reply::outcome result = release_reply::outcome::not_owner;
    std::int64_t receivers = 0; ///< Negative: no receiver could be notified.
    std::uint64_t largest = 0;  ///< The fence accepted for the name, when it was freed.
};

/// The report of a member about itself.
struct inspect_answer
{
    bool is_member = false;
    std::uint64_t epoch = 0;
    std::uint64_t largest = 0;         ///< Fence of any name.
    std::chrono::milliseconds lease{}; ///< The longest requested lease.
    std::uint64_t nonce = 0;
    std::chrono::milliseconds silent{}; ///< Until it grants anything.
    std::uint64_t began = 0;            ///< As in its seed.
};

struct adopt_answer
{
    bool adopted = false;
    std::uint64_t epoch = 0;
    std::uint64_t largest = 0;
    std::chrono::milliseconds lease{};
};

/// Makes a blank server a member.
struct seed
{
    std::uint64_t nonce;
    std::uint64_t epoch;
    std::uint64_t floor;
    std::chrono::milliseconds lease; ///< The longest requested lease.
    std::chrono::milliseconds silence;
    std::uint64_t began; ///< `fsm::rejoin::beginning`.
};

struct seed_answer
{
    bool is_member = false; ///< By this seed or another.
    std::chrono::milliseconds silent{};
};

/// Called by members on the strand, never inside a call into one.
class member_listener
{
public:
    /// The member can be reached. It may have lost its data.
    virtual void on_reachable(unsigned member) = 0;
    virtual void on_unreachable(unsigned member, error_code why, const details_ptr& details) = 0;
    virtual void on_member_error(unsigned member, error_code code, const diagnostics& details) = 0;

    /// Releases of the name are reported from now on; an earlier one may have been missed.
    virtual void on_watching(unsigned member, std::string_view name) = 0;
    /// No releases are reported for now.
    virtual void on_unsubscribed(unsigned member) = 0;
    /// @param sign    The same at all members, and unique to this release.
    /// @param largest The fence that the member has accepted.
    virtual void on_released(unsigned member, std::string_view name, std::string_view sign,
                             std::uint64_t largest) = 0;

protected:
    ~member_listener() = default;
};

/// One of the independent servers of a quorum. The promises of `store` about threads, completion,
/// order and lifetime of arguments apply. The failure of one request affects no other.
class member
{
public:
    template <class Reply>
    using handler = asio::any_completion_handler<void(error_code, Reply)>;

    member() = default;
    member(const member&) = delete;
    member& operator=(const member&) = delete;
    virtual ~member() = default;

    [[nodiscard]] virtual std::string server() const = 0;

    /// The time of its clock, in microseconds. 0: unknown.
    [[nodiscard]] virtual std::int64_t time() const = 0;

    virtual void open(const asio::any_io_executor& strand, member_listener& listener,
                      unsigned number) = 0;
    virtual void close() = 0;

    virtual void async_vote(const ballot& request, handler<ballot_reply> done) = 0;
    virtual void async_reenter(const reentry& request, handler<reentered> done) = 0;
    /// @param budget The limit for creating locks: later none is created.
    virtual void async_renew(std::span<const upkeep> renewals, std::chrono::milliseconds budget,
                             asio::any_completion_handler<void(std::vector<kept>)> done) = 0;
    /// @param quiet The release is not published.
    virtual void async_release(const release_request& request, bool quiet,
                               handler<release_answer> done) = 0;

    virtual void async_inspect(std::uint64_t nonce, handler<inspect_answer> done) = 0;
    virtual void async_adopt(std::uint64_t epoch, handler<adopt_answer> done) = 0;
    virtual void async_seed(const seed& request, handler<seed_answer> done) = 0;

    /// As in a `store`; empty if the member cannot be reached.
    virtual void async_describe(std::string_view holder, store::describe_handler done) = 0;
    /// The record of this client there. Empty: none.
    [[nodiscard]] virtual client_info own_info() const = 0;

    virtual void watch(std::string_view name) = 0;
    virtual void unwatch(std::string_view name) = 0;
};

} // namespace leasehold::quorum

#endif
