#include "chaos/round.hpp"

#include "chaos/boot_time.hpp"
#include "chaos/nemesis.hpp"
#include "chaos/register.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

namespace leasehold::test::chaos {
namespace {

using namespace std::chrono_literals;

// The time between two checks of what is due.
constexpr auto tick = 10ms;

class round
{
public:
    round(const round_settings& how, const progress_function& progress)
        : set_(how.clients),
          progress_(progress),
          servers_(how.on.start(set_.names)),
          clients_(set_, *servers_, store_)
    {}

    void torment(std::chrono::milliseconds length)
    {
        std::vector<fault_kind> kinds = servers_->faults();
        for (const fault_kind each : faults_of_clients())
            kinds.push_back(each);
        nemesis evil(make_plan(set_.seed, {.kinds = std::move(kinds),
                                           .lease = set_.lease,
                                           .length = length,
                                           .clients = set_.clients}),
                     set_.lease, *servers_, clients_);
        const stamp end = boot_time() + length;
        for (stamp now = boot_time(); now < end; now = boot_time()) {
            evil.step(now);
            faults_ = evil.log().size();
            wait_a_tick();
        }
        evil.heal();
        out_.faults = evil.log();
    }

    void overtake()
    {
        resp_client reader = store_.connect();
        for (int i = 0; i < set_.pauses; ++i) {
            std::string name;
            until("a client stands between looking and writing", 20s,
                  [&] { return !(name = clients_.said_after(0, "between ")).empty(); });
            clients_.pause(0);
            const auto writes = [&] { return reader.integer({"LLEN", "writes:" + name}); };
            const auto before = writes();
            until("another client writes", 20s, [&] { return writes() > before; });
            clients_.resume(0);
        }
    }

    /// The wait for a client to get the lock is limited, because a connection may be lost at a bad
    /// time.
    void cut_off()
    {
        const std::string& name = set_.names.front();
        const auto await_grant = [&](std::size_t client, const std::string& how) {
            const std::size_t before = grants(client);
            clients_.command(client, how + name);
            patiently(20s, [&] { return grants(client) > before; });
        };
        await_grant(0, "try "); // now the client is connected to the master
        const planned_fault cut{.kind = fault_kind::cut_master,
                                .place = the_server,
                                .begin = {},
                                .length = {},
                                .detail = 0};
        out_.faults.push_back({.what = name_of(cut.kind), .whom = "server", .begin = boot_time()});
        servers_->begin(cut, out_.faults.back());
        await_grant(0, "hold ");
        servers_->end(cut, out_.faults.back());
        out_.faults.back().end = boot_time();
        await_grant(1, "hold ");
    }

    /// Every client gets each lock once more, and ends.
    record finish()
    {
        out_.healed = boot_time();
        out_.lease = set_.lease;
        out_.names = set_.names;
        for_all([&](std::size_t i) { clients_.command(i, "settle"); });
        // The checker finds clients that are late, so this wait only has to end.
        patiently(30s, [&] {
            bool all = true;
            for_all([&](std::size_t i) {
                all = all && (clients_.has_said(i, "settled") || !clients_.running(i));
            });
            return all;
        });
        // A request to a server that failed may be executed for two lease times, and a shutdown
        // that has to wait for more than 5 s is given up.
        patiently(2 * set_.lease, [&] { return boot_time() > out_.healed + 2 * set_.lease; });
        for_all([&](std::size_t i) { clients_.command(i, "quit"); });
        for_all([&](std::size_t i) { clients_.wait(i, 15s); });
        // In MariaDB a KILL can hold up all sleeping sessions for two seconds each time.
        patiently(set_.lease + 15s,
                  [&] { return (out_.left_over = servers_->left_over()).empty(); });
        out_.clients = clients_.take();
        fenced_register all(store_.socket());
        for (const std::string& name : set_.names)
            out_.writes[name] = all.writes(name);
        return std::move(out_);
    }

private:
    std::size_t grants(std::size_t client) const
    {
        const auto& all = clients_.written(client).events;
        return static_cast<std::size_t>(std::count_if(
            all.begin(), all.end(), [](const event& each) { return each.what == verb::granted; }));
    }

    template <class Function>
    void for_all(Function f)
    {
        for (std::size_t i = 0; i < clients_.size(); ++i)
            f(i);
    }

    template <class Predicate>
    bool patiently(std::chrono::milliseconds limit, Predicate reached)
    {
        const stamp end = boot_time() + limit;
        while (!reached()) {
            if (boot_time() > end)
                return false;
            wait_a_tick();
        }
        return true;
    }

    template <class Predicate>
    void until(const char* awaited, std::chrono::milliseconds limit, Predicate reached)
    {
        if (!patiently(limit, reached))
            throw std::runtime_error(std::string("it did not happen in time: ") + awaited);
    }

    void wait_a_tick()
    {
        std::this_thread::sleep_for(tick);
        if (++ticks_ % 20 == 0)
            clients_.read_on();
        progress_(clients_, faults_);
    }

    const crew_settings set_;
    const progress_function& progress_;
    redis_server store_;
    std::unique_ptr<deployment> servers_;
    client_fleet clients_;
    record out_;
    std::size_t faults_ = 0;
    unsigned ticks_ = 0;
};

} // namespace

record run_round(const round_settings& how, const progress_function& progress)
{
    round one(how, progress);
    one.torment(how.length);
    return one.finish();
}

record run_overtaken(const round_settings& how, const progress_function& progress)
{
    round one(how, progress);
    one.overtake();
    return one.finish();
}

record run_cut_off(const round_settings& how, const progress_function& progress)
{
    round one(how, progress);
    one.cut_off();
    return one.finish();
}

} // namespace leasehold::test::chaos
