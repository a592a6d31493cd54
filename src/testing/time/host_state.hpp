#ifndef LEASEHOLD_SRC_TESTING_TIME_HOST_STATE_HPP
#define LEASEHOLD_SRC_TESTING_TIME_HOST_STATE_HPP

#include "testing/time/machine_clock.hpp"
#include "testing/time/random.hpp"
#include "testing/time/scheduler.hpp"

#include <leasehold/testing/host.hpp>

#include <boost/intrusive/list.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::testing::impl {

/// Rings when the clock of a host shows a time.
class local_alarm : public alarm,
                    public boost::intrusive::list_base_hook<
                        boost::intrusive::link_mode<boost::intrusive::auto_unlink>>
{
public:
    void arm(host_state& on, clock::time_point local);

    void disarm() noexcept
    {
        alarm::disarm();
        if (listed::is_linked())
            listed::unlink();
    }

protected:
    explicit local_alarm(bool by_timer) noexcept : by_timer_(by_timer) {}
    ~local_alarm() = default;

private:
    friend class host_state;
    using listed = boost::intrusive::list_base_hook<
        boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

    void ring() final;
    virtual void due() = 0;
    void drop() noexcept override {}

    host_state* where_ = nullptr;
    clock::time_point local_{};
    bool by_timer_;
};

class server_state;

/// A connection of a host, for the world.
class connection_end
{
public:
    virtual void reset() = 0;
    [[nodiscard]] virtual bool leads_to(const server_state& to) const noexcept = 0;
    /// Reports a release of the lock, or a grant to this client, that did not happen.
    virtual void inject(std::string_view name) = 0;
    /// The host has ended: all waiting operations are destroyed.
    virtual void drop() noexcept = 0;

protected:
    ~connection_end() = default;
};

/// The faults of a host, and its state.
class host_state
{
public:
    /// Until when nothing arrives.
    struct cut
    {
        clock::time_point to_server_until{};
        clock::time_point from_server_until{};

        void extend(direction which, clock::time_point until) noexcept
        {
            if (which != direction::from_server)
                to_server_until = std::max(to_server_until, until);
            if (which != direction::to_server)
                from_server_until = std::max(from_server_until, until);
        }
    };

    /// The path to one server, with faults beside those of the whole host.
    struct way
    {
        const server_state* to;
        std::optional<conditions> messages{};
        cut off{};
    };

    host_state(scheduler& all, std::size_t index, std::string called);
    ~host_state();

    /// Runs on this host, soon.
    template <class F>
    void post(F f)
    {
        time.post(*this, std::make_unique<task_of<F>>(std::move(f)));
    }

    void pause(clock::duration how_long, bool suspended);
    void resume();
    void add_connection(const std::shared_ptr<connection_end>& made);
    void drop_waits() noexcept;
    void drift(std::int64_t rate);
    void cut_off(direction which, clock::duration how_long);
    void cut_off(const server_state& to, direction which, clock::duration how_long);
    void report(step reached)
    {
        if (on_step)
            on_step(reached);
    }

    [[nodiscard]] bool sends() const noexcept { return time.now() >= no_sending_until; }

    [[nodiscard]] way& way_to(const server_state& to);
    [[nodiscard]] const way* find_way(const server_state& to) const noexcept;
    [[nodiscard]] const conditions& messages_to(const server_state& to) const noexcept;
    /// Until when nothing arrives there; the time may have passed.
    [[nodiscard]] clock::time_point cut_until_to(const server_state& to) const noexcept;
    [[nodiscard]] clock::time_point cut_until_from(const server_state& from) const noexcept;
    [[nodiscard]] bool is_cut_to(const server_state& to) const noexcept
    {
        return time.now() < cut_until_to(to);
    }
    [[nodiscard]] bool is_cut_from(const server_state& from) const noexcept
    {
        return time.now() < cut_until_from(from);
    }

    /// The travel time of a message.
    [[nodiscard]] clock::duration delay(const server_state& to);

    void line(std::string_view text) { time.line(name, text); }

    scheduler& time;
    const std::size_t number;
    const std::string name;
    generator random;
    std::shared_ptr<machine_clock> lease_clock;
    clock::duration wall_ahead{};
    std::uint64_t clients = 0;

    bool paused = false;
    bool crashed = false;
    clock::time_point pause_ends{};
    clock::duration timers_late{};
    std::vector<std::unique_ptr<task>> held;

    conditions messages;
    mishaps befallen;
    clock::time_point no_sending_until{};
    cut off; ///< From all servers.
    clock::time_point no_wakeups_until{};
    std::vector<way> ways; ///< Only those with faults.
    std::vector<std::weak_ptr<connection_end>> connections;
    std::function<void(step)> on_step;
    boost::intrusive::list<local_alarm, boost::intrusive::constant_time_size<false>> local_alarms;
};

} // namespace leasehold::testing::impl

#endif
