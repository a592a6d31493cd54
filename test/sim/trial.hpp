#ifndef LEASEHOLD_TEST_SIM_TRIAL_HPP
#define LEASEHOLD_TEST_SIM_TRIAL_HPP

#include "core/client_state.hpp"
#include "sim/coverage.hpp"
#include "sim/plan.hpp"

#include <leasehold/client.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/mutex.hpp>
#include <leasehold/testing/world.hpp>

#include <boost/asio/cancellation_signal.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::test::sim {

namespace asio = boost::asio;

/// All worlds begin later.
inline constexpr clock::time_point never{};

/// A client gives up a request after 2 s and reconnects within another 2 s. By then it has caught
/// up with every fault.
inline constexpr clock::duration to_notice = std::chrono::seconds(4);

/// Within this time the nodes of a cluster know that a slot has moved.
inline constexpr clock::duration to_spread = std::chrono::milliseconds(200);

/// The maximum time from the send of a request until its reply may make a lease.
inline constexpr clock::duration longest_request = std::chrono::seconds(10);

/// The maximum delay of a process without a fault.
inline constexpr clock::duration at_once = std::chrono::milliseconds(2);

/// One client and the machine it runs on, until it crashes or is shut down.
struct process
{
    testing::host* host = nullptr;
    std::size_t client = 0;
    std::unique_ptr<leasehold::client> locks;
    /// A handle for each name with each options.
    std::vector<std::optional<leasehold::mutex>> handles;
    std::weak_ptr<leasehold::detail::client_state> core;
    bool dead = false;
    bool closing = false;
    bool closed = false;
    bool run_ended = false;
    int sent[3]{}, ran[3]{}, answered[3]{}; ///< Acquires, renewals, releases.
    std::uint64_t served = 0;               ///< The number of executed requests.
    clock::time_point stopped_until{};      ///< The process may be late until then.
    std::vector<const fault*> armed;

    /// A process that was stopped may be late.
    [[nodiscard]] bool was_stopped(clock::time_point now) const noexcept
    {
        return now <= stopped_until;
    }
};

/// One operation of the plan while it is performed.
struct actor
{
    const operation* op = nullptr;
    std::size_t index = 0;
    process* client = nullptr;
    process* reentered_from = nullptr;
    const lock_options* options = nullptr;
    clock::time_point started{};
    leasehold::lease held;
    leasehold::lease inner;
    std::optional<testing::timer> hold;
    std::optional<testing::timer> cancelling;
    asio::cancellation_signal signal;
    asio::cancellation_signal leaving;
    std::string owner;
    int due = 0; ///< The number of handlers on this client that are still to be called.
    int inner_due = 0;
    bool told = false;
    error_code reason;  ///< The error of the lease.
    bool ended = false; ///< The lease was released or lost.
    bool entering = false;
    bool waits = false;        ///< The operation waits for the lock.
    bool* cancelled = nullptr; ///< Set if a cancellation has ended something.
    bool unreleased = false;   ///< The store did not know the owner that was released.

    [[nodiscard]] bool guards() const noexcept
    {
        return op->what == verb::guarded || op->what == verb::guarded_stubborn;
    }
};

/// A lease that is held.
struct possession
{
    actor* holder;
    leasehold::lease* held;
    process* client;
    std::size_t name;
    const lock_options* options;
    clock::time_point granted; ///< When the store granted it to its first holder.
    bool seen_invalid = false;
    clock::time_point since{}; ///< When it was delivered.
};

/// A grant by the server.
struct grant_record
{
    std::string owner;
    std::uint64_t first;
    std::uint32_t count;
    clock::time_point when;
    const lock_options* options = nullptr; ///< The options of the owner of its first fence.
    std::uint32_t voters = 0;              ///< Members of a quorum that have accepted it.
    bool repeated = false;                 ///< Another reply contained the last fence of the block.
    bool plain = false;                    ///< Granted without a check of the queue.
};

/// A lock that lost its majority at a quorum because a member lost its data.
struct forgotten_lock
{
    std::string owner;
    clock::time_point when = never;
};

/// The state of a name, in true time.
struct name_state
{
    std::string text;
    std::vector<grant_record> grants;
    std::vector<std::string> stranded; ///< Owners that end only with the TTL of the lock.
    clock::time_point stranded_at{};   ///< The last of them.
    std::string unheard;               ///< The last grantee without a notification.
    clock::time_point unheard_at{};
    std::uint64_t highest = 0; ///< The fence of a lease.
    const actor* highest_by = nullptr;
    clock::time_point highest_at{};
    std::uint64_t highest_granted = 0;
    std::uint64_t last_fence = 0; ///< The fence of the last holder.
    const lock_options* last_options = nullptr;
    clock::time_point broken{};     ///< When the data was last unreliable.
    clock::time_point unlocked{};   ///< When a lease may have lost its lock for that reason.
    clock::time_point entry_lost{}; ///< The same for a reentrant acquisition alone.
    forgotten_lock forgotten;       ///< The last of them.
    forgotten_lock forgotten_first; ///< The same for an owner's first lease, by its entry.
    clock::time_point demoted_at{}; ///< When a client first noticed that its server is a replica.
    clock::time_point freed{};
    clock::time_point left{};
    clock::time_point gave_up{}; ///< When a waiter last gave up.
    clock::time_point external_took{};
    /// The time until which a lock stays that an external client could not release.
    clock::time_point external_until{};
    /// The time since which a free time is owed that no external client can miss.
    clock::time_point turn_owed{};
    clock::time_point troubled_until = never; ///< In addition to the trouble of all names.
    clock::time_point moved_until = never;    ///< The slot of the name has moved.
};

/// The state of one run, shared by its parts: the world, its actors, and the observations.
class trial
{
public:
    trial(const plan& of, coverage& counts) : scenario(of), counted(counts) {}

    /// The first broken promise ends the run.
    void wrong(const std::string& promise);

    [[nodiscard]] clock::time_point now() const { return world.now(); }
    [[nodiscard]] clock::time_point time(milliseconds since) const { return began + since; }
    [[nodiscard]] bool healed() const { return now() >= time(scenario.heals); }

    /// Holds are short after the end of all faults, because others wait.
    [[nodiscard]] clock::duration hold_for(clock::duration wanted) const;

    /// How a lease ended, for the hash: two runs of a plan give the same results.
    void outcome(std::uint64_t number) noexcept { outcomes = outcomes * 31 + number; }
    void outcome(error_code code) noexcept { outcome(static_cast<std::uint64_t>(code.value())); }

    /// A handle of that client, with one of the plan's options.
    mutex& handle(process& at, std::size_t name, std::size_t options);

    void note(const process& at, const std::string& text);
    void note(const actor& by, const std::string& text);

    /// The server that a fault affects. By default, the one that keeps the name.
    [[nodiscard]] testing::server& server_of(const fault& f) const
    {
        if (cluster != nullptr && !f.member)
            return cluster->master(cluster->shard_of(names[f.name % scenario.names].text));
        return *servers[f.member.value_or(0) % servers.size()];
    }

    /// By the text of the name, which ends with its number.
    [[nodiscard]] name_state& named(std::string_view text)
    {
        return names[static_cast<std::size_t>(text.back() - '0')];
    }

    /// Whether the lock may be at another node than the map of the slots says.
    [[nodiscard]] bool is_moving(const name_state& n) const
    {
        return now() < n.moved_until || (cluster != nullptr && cluster->is_moving(n.text));
    }

    /// When the trouble of a name has ended.
    [[nodiscard]] clock::time_point trouble_of(const name_state& n) const
    {
        clock::time_point last = std::max(troubled_until, n.troubled_until);
        // A client that does not know that a slot has moved uses the old node.
        const bool any = n.moved_until != never;
        for (std::size_t shard = 0; shard < shard_trouble.size(); ++shard)
            if (any || cluster->shard_of(n.text) == shard)
                last = std::max(last, shard_trouble[shard]);
        return last;
    }
    /// The trouble of any name.
    [[nodiscard]] clock::time_point any_trouble() const noexcept
    {
        clock::time_point last = troubled_until;
        for (const name_state& each : names)
            last = std::max({last, each.troubled_until, each.moved_until});
        return last;
    }

    /// Whether a majority of the servers stores the lock for the owner.
    [[nodiscard]] bool is_held_by(const name_state& n, const std::string& owner) const;
    /// The number of members that have the lock, for each owner.
    using owners = std::map<std::string, std::size_t>;

    /// The owners that members of the quorum have.
    /// @param first Count only members that have the entry of the owner's first lease.
    [[nodiscard]] owners owners_of(const name_state& n, bool first) const;
    /// The owner whose lock a majority of the quorum's members has. Empty if there is none.
    /// @param first Count only members that have the entry of the owner's first lease.
    [[nodiscard]] std::string majority_owner(const name_state& n, bool first) const;

    [[nodiscard]] std::uint64_t commands() const;

    /// Destroys the actors, then the world.
    void end_world();

    const plan& scenario;
    coverage& counted;
    std::string first_wrong;
    std::uint64_t outcomes = 0;
    std::deque<process> processes;
    std::vector<process*> clients; ///< The current process of each.
    std::deque<actor> actors;
    std::vector<possession> possessions;
    std::vector<name_state> names;
    clock::time_point troubled_until = never;
    /// The trouble of each shard of a cluster.
    std::vector<clock::time_point> shard_trouble{scenario.shards, never};
    /// The trouble of the servers alone.
    clock::time_point store_trouble = never;
    /// The trouble of each client alone.
    std::vector<clock::time_point> client_trouble{scenario.clients, never};
    clock::time_point forgot = never; ///< When a member of a quorum last lost its data.
    /// Members of a quorum that lost their last seconds, and when.
    std::vector<std::pair<const testing::server*, clock::time_point>> rollbacks;
    clock::time_point forgot_after = never; ///< Events before this time had ended by the loss.
    clock::time_point denied_until{};       ///< A denied release is not repeated.
    clock::time_point demoted_until{};      ///< Clients that have not noticed it by then reconnect.
    bool clocks_beyond = false;
    bool stepped_back = false;
    bool duplicates = false;
    bool gave_up = false; ///< A shutdown ended without the store, so its locks expire.
    bool traced = false;
    std::uint64_t grants = 0;

private:
    [[nodiscard]] std::vector<testing::server*> make_servers();

    std::unique_ptr<testing::world> owned_world_ = std::make_unique<testing::world>(scenario.seed);

public:
    testing::world& world = *owned_world_;
    testing::cluster* cluster = nullptr; ///< Null: there is no cluster.
    std::vector<testing::server*> servers = make_servers();
    testing::server& server = *servers.front();
    const clock::time_point began = world.now();
};

} // namespace leasehold::test::sim

#endif
