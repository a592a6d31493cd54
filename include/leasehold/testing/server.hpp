#ifndef LEASEHOLD_TESTING_SERVER_HPP
#define LEASEHOLD_TESTING_SERVER_HPP

#include <leasehold/clock.hpp>
#include <leasehold/detail/export.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace leasehold::testing {

class world;

namespace impl {

class scheduler;
class server_state;

} // namespace impl

/// A simulated Redis: what the scripts of the real one do, with its own clock, and everything that
/// can befall it. Made by `world::make_server`.
class LEASEHOLD_TESTING_EXPORT server
{
public:
    /// How long something takes.
    using duration = clock::duration;
    /// The unit of times to live.
    using milliseconds = std::chrono::milliseconds;

    /// What a restart leaves of the data.
    enum class data : std::uint8_t
    {
        kept,             ///< All of it.
        lost,             ///< There was no persistence.
        last_second_lost, ///< Written to disk once a second, and the power failed.
    };

    /// What keeps it from serving.
    enum class trouble : std::uint8_t
    {
        busy,         ///< A long script: `BUSY` to everything.
        loading,      ///< It has just started: `LOADING` to everything that needs data.
        master_down,  ///< A replica that has lost its master: `MASTERDOWN`.
        cluster_down, ///< `CLUSTERDOWN` to everything that needs data.
        read_only, ///< It is a replica now: `READONLY` to what writes over connections from before,
                   ///< and nothing of what is published; those who connect again come to its
                   ///< master.
        out_of_memory, ///< `OOM` to what takes memory.
        cannot_save,   ///< Its disk is full: `MISCONF` to what writes.
        no_permission, ///< `NOPERM` to everything.
    };

    /// What it answers as, where that makes a difference.
    enum class product : std::uint8_t
    {
        redis_6,   ///< No `SET NX GET`; what a script ran into is told in other words.
        redis_7,   ///< The usual one.
        redis_8_4, ///< Has `DELEX key IFEQ value`.
        valkey_8,  ///< Answers who ends a subscription without having any with an error.
        valkey_9,  ///< Has `DELIFEQ key value`.
    };

    /// A grant that the server made: the order of these calls is the order of possession. Of a
    /// member of a quorum it is a vote: with no fences where it did not accept those offered.
    struct grant
    {
        std::string_view name;     ///< The name of the lock.
        std::string_view owner;    ///< Who has it now.
        std::uint64_t first_fence; ///< The smallest fence of this grant.
        std::uint32_t fences;      ///< How many there are.
        clock::time_point taken;   ///< True time; its fences may have been drawn since.
        bool repeated;             ///< The owner was in already.
        bool plain; ///< By commands that ask nothing: its client looks whether the fences will do.
        bool left_behind; ///< Its client has asked for something over a newer connection before.
        duration age;     ///< How long a request with a limit was under way, in true time.
    };

    /// For the library itself.
    explicit server(std::unique_ptr<impl::server_state> state) noexcept;
    ~server();
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    // Faults. Each takes effect at once. What destroys data says how much: 0 when there was nothing
    // to destroy.

    /// Resets all connections and refuses new ones for `down`; then comes back with what was kept.
    std::size_t restart(data what, duration down);

    /// A replica takes over that has not seen the writes of the last `lag`; until it does, for
    /// `down`, nothing is served.
    std::size_t fail_over(duration lag, duration down);

    /// So many replicas follow; none at first. What they have confirmed (`replica_acks`) survives
    /// `fail_over`, whatever its lag.
    void replicas(std::uint32_t count) noexcept;

    /// `FLUSHALL`: all locks and fences are gone, nobody is told.
    std::size_t flush_all();

    /// `SCRIPT FLUSH`: commands are sent twice once more. Within `how_long` each script that runs
    /// is forgotten again.
    void flush_scripts(duration how_long = {});

    /// `DEL`: a lock is gone, nobody is told. False when there was none.
    bool erase(std::string_view name);

    /// Somebody sets the key to a value that is not a lock; `erase` removes it. False when there
    /// was no lock.
    bool overwrite(std::string_view name);

    /// A client of another kind takes the lock away from whoever has it, for `how_long`. False when
    /// nobody had it.
    bool seize(std::string_view name, milliseconds how_long);

    /// A client of another kind asks once whether the lock is free, and takes it then: `SET name
    /// value NX PX`. Returns the value; empty when the lock is not free, or the server does not
    /// serve.
    std::string take_as_stranger(std::string_view name, milliseconds lease);

    /// It leaves, if the lock has that value still. False when it has not.
    bool leave_as_stranger(std::string_view name, std::string_view value);

    /// Stopped: what arrives waits and runs afterwards, whether or not its sender is still there.
    void stall(duration how_long);

    /// Each command takes this long; zero ends it.
    void slow(duration each);

    /// Answers what it cannot do in this state that it was not executed.
    void refuse(duration how_long, trouble why = trouble::busy);

    /// Answers every command that its sender has no permission (`NOPERM`).
    void deny(duration how_long);

    /// Takes the right to a command away: `NOPERM` to it from here on, also within scripts.
    /// `permit` gives it back.
    void forbid(std::string_view command);
    /// Gives the right to a command back.
    void permit(std::string_view command);

    /// What it is from now on.
    void imitate(product what) noexcept;

    /// Whether it says of itself that it belongs to a cluster.
    void cluster_mode(bool on) noexcept;

    /// Renewals of this name fail; the others of their batch do not.
    void fail_renewals(std::string_view name, duration how_long);

    /// The server's clock steps, forward or (negative) back.
    void step_clock(duration by);

    /// The server's clock gains so many millionths from now on; negative: loses.
    void drift(std::int64_t parts_per_million);

    // What it holds.

    /// Whether it is a member of a quorum that grants locks: it has not restarted or forgotten
    /// since it was made one, and its silence is over.
    [[nodiscard]] bool is_member() const;

    /// The id of the owner that has the lock (`owner::id`); empty: nobody.
    [[nodiscard]] std::string holder(std::string_view name) const;
    /// Whether this member of a quorum has the entry that acquired the lock.
    [[nodiscard]] bool first_is_in(std::string_view name) const;
    /// How many locks are held.
    [[nodiscard]] std::size_t locks() const;
    /// How many are in line for it.
    [[nodiscard]] std::size_t in_line(std::string_view name) const;
    /// What its clock shows.
    [[nodiscard]] std::chrono::microseconds time() const noexcept;
    /// Connections that wait for a name to be released.
    [[nodiscard]] std::size_t watches() const noexcept;
    /// How many commands it has run.
    [[nodiscard]] std::uint64_t commands() const noexcept;

    /// Called at every grant, in their order; an empty function ends that.
    void on_grant(std::function<void(const grant&)> told);

    /// Called whenever a lock is freed by its owner; not when it expires or is deleted.
    void on_free(std::function<void(std::string_view name)> told);

    /// Called when something keeps an owner in that no client takes out again, so that only the
    /// time to live does: a request that ran once more (`conditions::duplication`) has taken or
    /// entered a lock, which its first run did not, or which was left since; or a release was
    /// denied.
    void on_stranded(std::function<void(std::string_view name, std::string_view owner)> told);

    /// Called when a write is refused for the first time over a connection from before the server
    /// became a replica (`trouble::read_only`). Until then the client cannot know of the change.
    void on_read_only(std::function<void(std::string_view name)> told);

    /// Called when a lock is given to the next in its line although nobody hears of it: it joined
    /// before it listened, and does not now. It has the lock for the time of a claim if it is gone.
    void on_given_unheard(std::function<void(std::string_view name, std::string_view owner)> told);

    /// Called when a lock is given to an owner though others came first. `unfair`: the line was
    /// looked at, and one of them was there; else they were absent, or the lock had expired.
    void on_overtaken(
        std::function<void(std::string_view name, std::string_view owner, bool unfair)> told);

    /// For the library itself.
    [[nodiscard]] impl::server_state& state() const noexcept { return *state_; }

private:
    std::unique_ptr<impl::server_state> state_;
};

} // namespace leasehold::testing

#endif
