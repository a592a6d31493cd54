#ifndef LEASEHOLD_SRC_TESTING_SERVER_SERVER_STATE_HPP
#define LEASEHOLD_SRC_TESTING_SERVER_SERVER_STATE_HPP

#include "testing/server/lock_request.hpp"
#include "testing/server/membership.hpp"
#include "testing/server/redis_model.hpp"
#include "testing/server/segment.hpp"
#include "testing/server/session.hpp"
#include "testing/time/machine_clock.hpp"
#include "testing/time/scheduler.hpp"

#include <leasehold/testing/server.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::testing::impl {

/// A server: its data, its connections, its queue of commands, and its faults.
class server_state
{
public:
    server_state(scheduler& all, std::string called);
    ~server_state();

    [[nodiscard]] bool accepts() const noexcept { return time.now() >= down_until; }
    /// A command that arrives now is run at once, at full speed.
    [[nodiscard]] bool is_well() const noexcept
    {
        return accepts() && queue_.empty() && each_takes_ == clock::duration::zero() &&
               time.now() >= std::max(stalled_until_, troubled_until_);
    }
    void connect(const session_ptr& from);
    void disconnect(session& from);

    /// The first `count` commands of `sent` have arrived. `from` is null for those that a dead
    /// connection left behind: they run while their sender still waits, and get no reply.
    void arrive(const session_ptr& from, const segment_ptr& sent, std::size_t count);

    [[nodiscard]] std::int64_t time_us() const noexcept;
    /// Ends with the process.
    [[nodiscard]] std::uint64_t life() const noexcept { return life_; }

    void speed(clock::duration each);
    void stall(clock::duration how_long);
    void refuse(server::trouble why, clock::duration how_long);
    /// @param silently The clients get no notification.
    void go_down(clock::duration how_long, bool silently = false);
    /// Messages to it vanish, and so do attempts to connect.
    [[nodiscard]] bool vanishes() const noexcept { return silent_ && !accepts(); }
    /// Its data of now cannot be lost any more.
    void keep_all() noexcept { replicated_ = time.now(); }
    /// @param keys Not null: changed keys are added.
    std::size_t lose(clock::duration latest, std::vector<std::string>* keys = nullptr);
    std::size_t flush_all();
    void forget_scripts(clock::duration how_long);
    void fail_renewals(std::string_view name, clock::duration how_long);

    bool erase(std::string_view name);
    bool overwrite(std::string_view name);
    bool seize(std::string_view name, std::chrono::milliseconds how_long);
    std::string acquire_externally(std::string_view name, std::chrono::milliseconds lease);
    bool release_externally(std::string_view name, std::string_view value);
    [[nodiscard]] bool is_member();
    [[nodiscard]] bool first_is_in(std::string_view n);
    [[nodiscard]] std::string holder(std::string_view name);
    /// The holder's grace between heartbeats; 0: it sends none, or there is no holder.
    [[nodiscard]] std::chrono::milliseconds promise_of(std::string_view name);
    [[nodiscard]] std::size_t locks();
    /// The owners in the queue.
    [[nodiscard]] std::vector<std::string> queue_of(std::string_view name);
    /// The text that notifies a client of a grant: to an owner of it in the queue, or another.
    [[nodiscard]] std::string false_grant(std::string_view name, std::string_view client);
    [[nodiscard]] std::size_t subscriptions() const noexcept;
    [[nodiscard]] std::size_t listeners(std::string_view channel) const;
    /// To its subscribers; returns their number.
    std::int64_t publish_here(std::string_view channel, std::string_view text);
    /// Ends subscriptions to channels for which `gone` is true.
    void unsubscribe_all(const std::function<bool(std::string_view channel)>& gone);
    /// Removes what has expired, before the data is read.
    void refresh();

    void line(std::string_view text) { time.line(name, text); }

    scheduler& time;
    const std::string name;
    machine_clock clock_of_it;
    redis_model redis;
    clock::time_point down_until{};
    std::int64_t replicas = 0;     ///< They have the data that WAIT confirms.
    membership* cluster = nullptr; ///< Null: it belongs to none.
    std::uint64_t commands = 0;
    std::function<void(const server::grant&)> on_grant;
    std::function<void(std::string_view)> on_free;
    std::function<void(std::string_view, std::string_view)> on_orphaned;
    std::function<void(std::string_view)> on_read_only;
    std::function<void(std::string_view, std::string_view)> on_unnotified_grant;
    std::function<void(std::string_view, std::string_view, bool)> on_overtaken;
    std::function<void(const lock_request&, const lock_effect&)> on_answered; ///< To its client.
    std::function<void(std::string_view client)> on_alive; ///< A heartbeat was executed.
    redis_config::key_layout layout = redis_config::key_layout::redisson; ///< Of its clients.

private:
    class worker;

    struct waiting
    {
        session_ptr from;
        segment_ptr what;
        std::size_t next;
        std::size_t end;
        bool asking = false; ///< The last command was ASKING.
        /// The commands of it that took a lock whose fences a later one draws, and their times.
        std::vector<std::pair<std::size_t, clock::time_point>> took{};
    };

    void work();
    bool run_some(waiting& from);
    message run(waiting& by, std::size_t index);
    message run_request(waiting& by, const lock_request& request, std::size_t index);
    [[nodiscard]] bool is_in_already(const lock_request& request);
    [[nodiscard]] std::vector<lock_request> missing_of(words command);
    [[nodiscard]] bool is_in_now(const lock_request& at_member);
    void notify_grant(const waiting& by, const lock_request& request, const lock_effect& effect,
                      bool repeated, clock::time_point when);
    void notify_grants(waiting& by, std::size_t drawing, std::uint32_t fences,
                       const message& reply);
    [[nodiscard]] bool is_left_behind(const waiting& by, const lock_request& request);
    void follow(session* from, const lock_request& request, words command, const message& reply);
    message client_command(session* from, words command);
    message subscribe(session* from, words command);
    message wait(const session* from, words command);
    [[nodiscard]] std::optional<std::string> refusal(words command, bool asking);
    [[nodiscard]] const char* complaint(words command) const noexcept;
    [[nodiscard]] bool is_in(server::trouble why) const noexcept
    {
        return time.now() < troubles_[static_cast<std::size_t>(why)];
    }

    /// It leads to a replica, which does not receive what its master publishes.
    [[nodiscard]] bool is_elsewhere(const session& each) const noexcept
    {
        return cluster == nullptr && each.demoted && is_in(server::trouble::read_only);
    }

    std::vector<session_ptr> sessions_;
    std::deque<waiting> queue_;
    std::unique_ptr<worker> worker_;
    std::array<clock::time_point, 8> troubles_{}; ///< Until when each lasts.
    clock::time_point troubled_until_{};          ///< By any.
    clock::time_point stalled_until_{};
    clock::time_point replicated_{}; ///< All replicas have the writes until then.
    clock::time_point forgets_until_{};
    clock::duration each_takes_{};
    clock::time_point next_free_{};
    std::vector<std::pair<std::string, clock::time_point>> no_renewals_; ///< Name, until when.
    std::uint64_t life_ = 0;
    bool silent_ = false; ///< While it is down.
    std::uint64_t external_owners_ = 0;
    std::int64_t connected_ = 0; ///< In this life.
    std::int64_t addresses_ = 0;
    std::map<std::string, std::int64_t, std::less<>>
        latest_of_; ///< The newest connection over which each client has sent a request.
};

} // namespace leasehold::testing::impl

#endif
