#ifndef LEASEHOLD_SRC_TESTING_SERVER_STATE_HPP
#define LEASEHOLD_SRC_TESTING_SERVER_STATE_HPP

#include "store/memory/lock_table.hpp"
#include "testing/call.hpp"
#include "testing/machine_clock.hpp"
#include "testing/scheduler.hpp"

#include <leasehold/testing/server.hpp>

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::testing::impl {

/// A server: its data, what was written when, who is connected, and what is wrong with it.
class server_state
{
public:
    server_state(scheduler& all, std::string called);
    ~server_state();

    void arrive(const call_ptr& what, bool reset_after);
    void connect(const std::shared_ptr<simulated_store>& who);
    void disconnect(simulated_store& who, std::uint64_t connection);
    [[nodiscard]] bool accepts() const noexcept { return time.now() >= down_until; }
    [[nodiscard]] std::int64_t time_us() const noexcept;
    [[nodiscard]] std::uint64_t life() const noexcept { return life_; }
    [[nodiscard]] memory::instant instant() const noexcept
    {
        return memory::instant::one_clock(memory::microseconds(time_us()));
    }

    void speed(clock::duration each);
    void go_down(clock::duration how_long);
    std::size_t lose(clock::duration latest);
    std::size_t flush_all();
    bool erase(std::string_view name);
    bool overwrite(std::string_view name);
    bool seize(std::string_view name, std::chrono::milliseconds how_long);

    [[nodiscard]] static std::string describe(const call& what);
    void line(std::string_view text) { time.line(name, text); }

    scheduler& time;
    const std::string name;
    machine_clock clock_of_it;
    memory::lock_table data;
    clock::time_point down_until{};
    clock::time_point stalled_until{};
    clock::time_point refuses_until{};
    clock::time_point denies_until{};
    std::vector<std::pair<std::string, clock::time_point>> no_renewals; ///< Of whom, until when.
    clock::duration each_takes{};
    std::array<bool, 3> scripts_known{};
    std::uint64_t commands = 0;
    std::function<void(const server::grant&)> on_grant;
    std::function<void(std::string_view)> on_free;

    struct subscription
    {
        const simulated_store* id;
        std::weak_ptr<simulated_store> who;
        std::uint64_t connection;
        std::string name;
    };
    std::vector<subscription> subscriptions;

private:
    class worker;

    struct waiting
    {
        call_ptr what;
        bool reset_after;
    };

    struct written
    {
        enum class kind : std::uint8_t
        {
            acquire,
            renew,
            release,
            erase,
            flush,
        };
        kind what;
        std::string name, owner, entry;
        std::chrono::milliseconds lease{};
        std::uint32_t fences = 0;
        memory::instant at{};
        clock::time_point when{};
    };

    void work();
    void run(const call_ptr& what, bool reset_after);
    answer execute(call& what);
    void execute_acquire(call& what, answer& said);
    void publish(std::string_view name, release_reply& reply);
    void note(written::kind what, std::string_view n, std::string_view owner = {},
              std::string_view entry = {}, std::chrono::milliseconds lease = {},
              std::uint32_t fences = 0);
    static void replay(memory::lock_table& onto, const written& one);
    [[nodiscard]] bool fails_renewals_of(std::string_view n) const noexcept;
    [[nodiscard]] bool is_overwritten(std::string_view n) const noexcept;

    std::vector<std::weak_ptr<simulated_store>> connected_;
    std::vector<std::string> overwritten_;
    memory::lock_table old_; ///< The data before the first of `journal_`.
    std::deque<written> journal_;
    std::deque<waiting> queue_;
    std::unique_ptr<worker> worker_;
    clock::time_point next_free_{};
    std::uint64_t life_ = 0; ///< A restart ends what was being served.
    std::uint64_t foreigners_ = 0;
};

} // namespace leasehold::testing::impl

#endif
