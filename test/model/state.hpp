#ifndef LEASEHOLD_TEST_MODEL_STATE_HPP
#define LEASEHOLD_TEST_MODEL_STATE_HPP

#include "fsm/contention/queued_contention.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <type_traits>

namespace leasehold::test::model {

/// Owners are numbered by client and attempt, so they can be renamed with their clients.
using owner = std::uint8_t;
/// Only the order of fences counts, so they are renumbered in each state. Fences that a server drew
/// from its clock are `clock_fence` and above. Fences of a counter that began again are below it.
using fence = std::uint8_t;

inline constexpr int most_clients = 3;
inline constexpr int most_attempts = 3;
inline constexpr owner no_owner = 15;
inline constexpr owner external_owner = 14;
inline constexpr fence clock_fence = 64;

constexpr std::uint8_t byte(int value) noexcept
{
    return static_cast<std::uint8_t>(value);
}
constexpr owner owner_of(int client, int number) noexcept
{
    return byte(client * 4 + number);
}
constexpr bool ours(owner o) noexcept
{
    return o < owner_of(most_clients, 0);
}
constexpr int client_of(owner o) noexcept
{
    return o / 4;
}
constexpr int number_of(owner o) noexcept
{
    return o % 4;
}

/// The model has too little room for a value.
struct out_of_room : std::runtime_error
{
    using runtime_error::runtime_error;
};

/// A few bytes at a fixed place. Unused bytes are zero.
template <std::size_t Room>
struct few
{
    std::uint8_t size = 0;
    std::array<std::uint8_t, Room> at{};

    [[nodiscard]] const std::uint8_t* begin() const noexcept { return at.data(); }
    [[nodiscard]] const std::uint8_t* end() const noexcept { return at.data() + size; }
    [[nodiscard]] std::uint8_t* begin() noexcept { return at.data(); }
    [[nodiscard]] std::uint8_t* end() noexcept { return at.data() + size; }

    void push_back(std::uint8_t value)
    {
        if (size == Room)
            throw out_of_room("too many in the queue");
        at[size++] = value;
    }
    void erase(int index) noexcept
    {
        for (int i = index; i + 1 < size; ++i)
            at[byte(i)] = at[byte(i + 1)];
        at[--size] = 0;
    }
    void clear() noexcept { *this = {}; }
};

/// The data of the store, and of a snapshot.
struct keys
{
    enum flag : std::uint8_t
    {
        /// The key lives for the lease time. Otherwise it lives for a claim only.
        whole_lease = 1,
        waited_for = 2,       ///< `w`: there is a waiter.
        reentered = 4,        ///< `e`: there are reentrant acquisitions.
        first_entry = 8,      ///< In the hash of reentrant acquisitions.
        second_entry = 16,    ///< "
        entries_shorter = 32, ///< The hash of reentrant acquisitions expires before the lock.
        left_free = 64        ///< No waiter gets the lock before the free time ends.
    };
    static constexpr std::uint8_t absent = 128; ///< In the queue: its presence has ended.

    owner lock = no_owner;
    std::uint8_t flags = 0;
    fence counter = 0;
    few<6> queue;

    [[nodiscard]] bool has(int bits) const noexcept { return (flags & bits) != 0; }
    [[nodiscard]] int place(owner o) const noexcept
    {
        for (int i = 0; i < queue.size; ++i)
            if ((queue.at[byte(i)] & ~absent) == o)
                return i;
        return -1;
    }
};

/// A message on its way. Requests and replies have no order, except where `server.cpp` defines one.
struct message
{
    enum class type : std::uint8_t
    {
        none,
        // requests
        set,          ///< SET NX PX GET, the first half of the fast path.
        incr_granted, ///< INCRBY, the second half, after SET has taken the lock.
        incr_own,     ///< SET found the owner's own value.
        incr_held,    ///< SET found the value of another owner.
        acquire,      ///< The slow path.
        release,      ///< Short and long: the first half changes nothing or everything.
        renew,
        reenter,
        hello,          ///< A new connection begins: CLIENT KILL of the earlier ones.
        raise,          ///< The counter is raised, also before any other request.
        redraw_raise,   ///< A fence was below the floor, so the counter is raised again
        redraw_incr,    ///< and another fence is drawn.
        draw_elsewhere, ///< A fence for another name.
        // replies
        short_granted,
        short_own,
        short_held,
        short_refused, ///< SET has taken the lock, INCRBY was rejected.
        granted,
        held,
        refused_late,
        left,           ///< The lock was freed or handed over.
        left_in_queue,  ///< The next owner has joined.
        left_granted,   ///< The next owner has the lock.
        left_others_in, ///< Other reentrant acquisitions still hold the lock.
        not_in,
        renewed,
        gone,
        reentered,
        not_reentered,
        redrawn,
        drawn_elsewhere,
        turn, ///< A notification.
    };
    enum bit : std::uint8_t
    {
        orphan = 1, ///< The reply is not read any more.
        old = 2,    ///< Orphaned by an earlier loss of the connection than the last one.
        joins = 4,  ///< The release lets the next owner join.
        second = 8, ///< The message concerns the reentrant acquisition.
        once = 16,  ///< A try, which does not wait.
        /// Its limit in server time has passed. For a release: the limit of all that it undoes has
        /// passed.
        over = 32,
        passed = 64, ///< The deadline of its grant has passed.
        stale = 128, ///< The data that it refers to was lost.
    };

    type what = type::none;
    owner who = 0;
    std::uint8_t bits = 0;
    model::fence fence = 0;

    [[nodiscard]] bool has(int wanted) const noexcept { return (bits & wanted) != 0; }
    [[nodiscard]] bool reply() const noexcept { return what >= type::short_granted; }
    [[nodiscard]] int client() const noexcept { return client_of(who); }
    [[nodiscard]] bool greeting() const noexcept
    {
        return what == type::hello || what == type::raise;
    }
    friend bool operator==(const message&, const message&) = default;
    friend bool operator<(const message& a, const message& b) noexcept
    {
        return std::bit_cast<std::uint32_t>(a) < std::bit_cast<std::uint32_t>(b);
    }
};

struct client
{
    enum bit : std::uint16_t
    {
        believes = 1,  ///< The lease is valid.
        cancelled = 2, ///< There is no waiter here any more.
        once = 4,      ///< The request is a try.
        connected = 8,
        listens = 16, ///< Its notifications have a connection.
        dead = 32,
        unsent = 64,  ///< A release has to be sent when there is a connection.
        passed = 128, ///< The deadline passed while a fence was drawn again.
        stale = 256,  ///< The data of its lock was lost: no claim on exclusion.
        /// The data was lost at the time of its grant too: no claim on the order of fences either.
        stale_entry = 512,
        renewing = 1024,
        uncovered = 2048,  ///< The deadline counts from a request that did not extend the lock.
        confirming = 4096, ///< The owner waits for a renewal before it acquires again.
        alone = 8192,      ///< There is a waiter here that its release does not let join.
    };
    /// The outstanding task of the owner.
    enum class task : std::uint8_t
    {
        none,
        fast_path,
        slow_path,
        redraw,
        release,
    };
    /// The second lease under the same owner, by reentrant acquisition.
    enum class inner : std::uint8_t
    {
        none,
        asked,
        in,
        in_expired, ///< The lease is not valid any more.
        leaving,
        leave_unsent,
    };

    fsm::queued_contention contention;
    std::uint8_t number = 0; ///< The number of the current owner. All owners before it have ended.
    task under_way = task::none;
    inner entry = inner::none;
    std::uint16_t bits = connected | listens;
    fence last = 0;        ///< The fence in use.
    std::uint8_t left = 0; ///< The number of fences that are left in the block.
    fence floor = clock_fence;
    std::uint8_t entry_number = 0; ///< The number of the owner of the reentrant acquisition.
    std::uint8_t owed = 0; ///< By number: the owners to release once more after their time limit.
    std::uint8_t spare = 0;

    [[nodiscard]] bool has(int wanted) const noexcept { return (bits & wanted) != 0; }
    void set(int more) noexcept { bits = static_cast<std::uint16_t>(bits | more); }
    void unset(int less) noexcept { bits = static_cast<std::uint16_t>(bits & ~less); }
    [[nodiscard]] fsm::queued_contention::state phase() const noexcept
    {
        return contention.current();
    }
    /// The owner that asks. If the release that let the next owner join has granted it the lock,
    /// and only its fence is missing, the next owner.
    [[nodiscard]] int asking() const noexcept
    {
        return number + (under_way == task::redraw && contention.joins() ? 1 : 0);
    }
};

struct state
{
    keys data;
    keys snapshot;
    std::uint8_t has_snapshot = 0;

    // Only for the properties.
    fence top = clock_fence;           ///< The highest fence that was in use,
    fence top_unexcused = clock_fence; ///< the same without those that a loss of data excuses.
    fence ever = clock_fence;          ///< The highest that was drawn: the clock is above it.
    std::uint8_t open = 0;             ///< The lock changed outside the queue: SET NX may pass it.
    few<6> order;                      ///< The present waiters, in the order of their joining.
    std::uint16_t disturbed = 0;       ///< By owner: whether a fault affected it.

    std::uint8_t faults = 0;    ///< The number of those that are still to come.
    std::uint8_t cancels = 0;   ///< "
    std::uint8_t external = 0;  ///< "
    std::uint8_t elsewhere = 0; ///< "
    enum class external_hold : std::uint8_t
    {
        none,
        valid,
        gone, ///< The external client lost its key with the data, or crashed.
    } external_client = external_hold::none;

    std::uint8_t messages = 0;
    std::array<client, most_clients> clients;
    std::array<message, 12> on_the_way;

    void send(message m)
    {
        if (messages == on_the_way.size())
            throw out_of_room("too many messages");
        on_the_way[messages++] = m;
    }
    void take(int index) noexcept
    {
        on_the_way[byte(index)] = on_the_way[--messages];
        on_the_way[messages] = {};
    }
    template <class Condition>
    void take_if(Condition condition)
    {
        for (int i = 0; i < messages;)
            if (condition(on_the_way[byte(i)]))
                take(i);
            else
                ++i;
    }
    [[nodiscard]] client& of(owner o) noexcept { return clients[byte(client_of(o))]; }
    [[nodiscard]] const client& of(owner o) const noexcept { return clients[byte(client_of(o))]; }
    [[nodiscard]] client& at(int i) noexcept { return clients[byte(i)]; }
    [[nodiscard]] const client& at(int i) const noexcept { return clients[byte(i)]; }

    void disturb(owner o) noexcept { disturbed = static_cast<std::uint16_t>(disturbed | 1U << o); }
    void undisturb(owner o) noexcept
    {
        disturbed = static_cast<std::uint16_t>(disturbed & ~(1U << o));
    }
};
static_assert(std::is_trivially_copyable_v<state>);
// States are compared and stored byte by byte.
static_assert(std::has_unique_object_representations_v<state>);

} // namespace leasehold::test::model

#endif
