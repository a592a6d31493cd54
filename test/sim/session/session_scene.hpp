#ifndef LEASEHOLD_TEST_SIM_SESSION_SESSION_SCENE_HPP
#define LEASEHOLD_TEST_SIM_SESSION_SESSION_SCENE_HPP

#include "sim/session/session_link.hpp"
#include "sim/session/session_trial.hpp"

#include <leasehold/client.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/options.hpp>
#include <leasehold/testing/timer.hpp>

#include <boost/asio/cancellation_signal.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::test::sessions {

using std::chrono::milliseconds;

/// The time after which everybody has noticed that a fault is over: a reply that did not arrive, a
/// pause, and a new connection.
inline constexpr clock::duration to_notice = std::chrono::seconds(3);
/// The time for a report, and for its answer.
inline constexpr clock::duration at_once = std::chrono::milliseconds(50);

/// A kind and a number: the name of a host, or of a lock.
[[nodiscard]] std::string text_of(char kind, std::uint64_t number);

struct process
{
    testing::host* host = nullptr;
    std::shared_ptr<session_link> link;
    path* way = nullptr;
    std::unique_ptr<client> locks;
    clock::time_point troubled_until{};
    clock::time_point late_until{}; ///< Its process or machine does not run, or just began to.
    bool dead = false;
    bool closed = false;
};

/// One operation of a user.
struct actor
{
    std::size_t number = 0;
    process* at = nullptr;
    std::uint64_t name = 0;
    lock_options options;
    milliseconds hold{};
    bool once = false;     ///< Tries without waiting.
    bool reenters = false; ///< Acquires again under its owner.
    bool lets_go = false;  ///< Destroys the lease instead of releasing it.
    bool detaches = false; ///< Leaves the lock to its TTL.
    std::optional<milliseconds> cancelled_after{};
    lease held{};
    lease inner{};
    asio::cancellation_signal signal{};
    std::optional<testing::timer> timer{};
    std::uint64_t fence = 0;
    int due = 0;       ///< Handlers that have not been called.
    bool told = false; ///< Its loss was reported.
};

/// The state of one run, in true time.
class scene
{
public:
    scene(std::uint64_t seed, link_error error, tally& counted,
          const std::function<void(std::string_view)>& trace);
    ~scene();
    scene(const scene&) = delete;
    scene& operator=(const scene&) = delete;

    [[nodiscard]] clock::time_point now() const { return world->now(); }

    /// The first broken promise ends the run.
    void wrong(const std::string& promise);

    void note(const actor& a, const char* what, error_code how = {});

    /// Starts a process of the client with that number.
    void start(std::string host, std::uint64_t number);

    /// Whether a fault may still affect the client.
    [[nodiscard]] bool is_troubled(const process& p) const
    {
        return now() < std::max(p.troubled_until, troubled_until);
    }

    /// When an operator removed its lock. Null: no operator has.
    [[nodiscard]] const clock::time_point* removed_at(const actor& a) const;

    milliseconds ms(int low, int high) { return milliseconds(random.between(low, high)); }
    template <std::size_t N>
    milliseconds one_of(const std::array<milliseconds, N>& of)
    {
        return of.at(random.below(N));
    }

    testing::impl::generator random;
    const link_error error;
    tally& counted;
    std::string first_wrong;
    std::optional<lock_service> service;
    std::deque<path> paths; ///< Of each client.
    std::unique_ptr<testing::world> world;
    std::deque<process> processes;
    std::vector<process*> current; ///< The last process of each client.
    std::deque<actor> actors;
    std::uint64_t names = 1;
    clock::time_point began{};
    clock::time_point troubled_until{}; ///< A fault of the service, for all clients.
    std::map<std::uint64_t, clock::time_point> removed; ///< By the revision of the place.

private:
    bool traced_;
};

} // namespace leasehold::test::sessions

#endif
