// A quorum of real servers that are killed, stopped and emptied for a given time, while clients
// acquire locks. Every grant is recorded, and checked at the end: no fence twice, none smaller than
// one that was known before, and no two holders of a lock.
#include "redis/redlock/quorum_store.hpp"
#include "redis/redlock/redis_member.hpp"
#include "support/command_line.hpp"
#include "support/quorum_deployment.hpp"

#include <leasehold/client.hpp>
#include <leasehold/clock.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/mutex.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds lease_time = 600ms;
constexpr std::uint64_t enough_tries = 300;

constexpr char usage[] =
    R"(usage: torment [--seconds N] [--seed S] [--members N] [--clients N] [--error E]
Kills (SIGKILL, with an append-only file), stops (SIGSTOP) and empties servers of a quorum while
clients acquire locks, and checks the promises of the quorum.
  --seconds N   duration (60)
  --seed S      determines the order of the faults (default: random)
  --members N   number of servers: 3, 5, 7 or 9 (5)
  --clients N   number of clients (4)
  --error E     a deliberate error, which must be found: fence (each client has its own counter) or
                hold (a lock of another owner counts as granted)
)";

/// Deliberate errors of the clients.
enum class mistake : std::uint8_t
{
    none,
    fence,
    hold,
};

/// The number of acquires, and of those with a second round.
struct rounds
{
    std::atomic<std::uint64_t> first = 0;
    std::atomic<std::uint64_t> second = 0;
};

/// Counts the requests to a member, and forwards its replies, or others.
class tapped_member final : public quorum::member, private quorum::member_listener
{
public:
    tapped_member(std::unique_ptr<quorum::member> way, rounds* counts, mistake wrong)
        : way_(std::move(way)), counts_(counts), wrong_(wrong)
    {}

    std::string server() const override { return way_->server(); }
    std::int64_t time() const override { return knows_fences() ? way_->time() : 0; }
    void open(const asio::any_io_executor& strand, quorum::member_listener& told,
              unsigned number) override
    {
        told_ = &told;
        way_->open(strand, *this, number);
    }
    void close() override { way_->close(); }
    void async_vote(const quorum::ballot& asked, handler<quorum::ballot_reply> done) override
    {
        if (counts_ != nullptr)
            ++(asked.only_ours ? counts_->second : counts_->first);
        if (wrong_ == mistake::none)
            return way_->async_vote(asked, std::move(done));
        way_->async_vote(asked, [done = std::move(done), wrong = wrong_](
                                    error_code failed, quorum::ballot_reply reply) mutable {
            using outcome = quorum::ballot_reply::outcome;
            if (reply.result == (wrong == mistake::fence ? outcome::outbid : outcome::held))
                reply.result = outcome::accepted;
            if (wrong == mistake::fence)
                reply.largest = 0;
            std::move(done)(failed, std::move(reply));
        });
    }
    void async_reenter(const quorum::reentry& asked, handler<quorum::reentered> done) override
    {
        way_->async_reenter(asked, std::move(done));
    }
    void async_renew(std::span<const quorum::upkeep> asked, milliseconds budget,
                     asio::any_completion_handler<void(std::vector<quorum::kept>)> done) override
    {
        way_->async_renew(asked, budget, std::move(done));
    }
    void async_release(const release_request& asked, bool quiet,
                       handler<quorum::release_answer> done) override
    {
        if (knows_fences())
            return way_->async_release(asked, quiet, std::move(done));
        way_->async_release(
            asked, quiet,
            [done = std::move(done)](error_code failed, quorum::release_answer said) mutable {
                said.largest = 0;
                std::move(done)(failed, said);
            });
    }
    void async_inspect(std::uint64_t nonce, handler<quorum::inspect_answer> done) override
    {
        way_->async_inspect(nonce, std::move(done));
    }
    void async_adopt(std::uint64_t epoch, handler<quorum::adopt_answer> done) override
    {
        way_->async_adopt(epoch, std::move(done));
    }
    void async_seed(const quorum::seed& asked, handler<quorum::seed_answer> done) override
    {
        way_->async_seed(asked, std::move(done));
    }
    void async_describe(std::string_view holder, store::describe_handler done) override
    {
        way_->async_describe(holder, std::move(done));
    }
    client_info own_info() const override { return way_->own_info(); }
    void watch(std::string_view name) override { way_->watch(name); }
    void unwatch(std::string_view name) override { way_->unwatch(name); }

private:
    [[nodiscard]] bool knows_fences() const noexcept { return wrong_ != mistake::fence; }

    void on_reachable(unsigned number) override { told_->on_reachable(number); }
    void on_unreachable(unsigned number, error_code why,
                        const quorum::details_ptr& details) override
    {
        told_->on_unreachable(number, why, details);
    }
    void on_member_error(unsigned number, error_code code, const diagnostics& details) override
    {
        told_->on_member_error(number, code, details);
    }
    void on_watching(unsigned number, std::string_view name) override
    {
        told_->on_watching(number, name);
    }
    void on_unsubscribed(unsigned number) override { told_->on_unsubscribed(number); }
    void on_released(unsigned number, std::string_view name, std::string_view sign,
                     std::uint64_t largest) override
    {
        told_->on_released(number, name, sign, knows_fences() ? largest : 0);
    }

    const std::unique_ptr<quorum::member> way_;
    rounds* const counts_;
    const mistake wrong_;
    quorum::member_listener* told_ = nullptr;
};

std::shared_ptr<store> make_store(const redis_config& settings, rounds& counts, mistake wrong)
{
    std::vector<std::unique_ptr<quorum::member>> members;
    for (const redis_config::address& each : settings.addresses) {
        redis_config alone = settings;
        alone.kind = redis_config::deployment::server;
        alone.addresses = {each};
        // The requests to one member: the others get the same.
        members.push_back(std::make_unique<tapped_member>(
            quorum::make_redis_member(alone, redis_store::system_environment()),
            members.empty() ? &counts : nullptr, wrong));
    }
    const auto majority = static_cast<unsigned>(members.size() / 2 + 1);
    return quorum::make_store(std::move(members), majority, detail::make_system_time());
}

struct grant
{
    std::string name;
    std::uint64_t fence;
    std::size_t client;
    clock::time_point asked;   ///< Before the request for the lock.
    clock::time_point granted; ///< When the grant was known.
    clock::time_point valid;   ///< The last time at which `valid()` returned true.
};

class tormented_client
{
public:
    tormented_client(const redis_config& settings, rounds& counts, mistake wrong,
                     std::size_t number, std::uint64_t seed)
        : number_(number), random_(seed), locks_(context_, make_store(settings, counts, wrong))
    {
        locks_.async_run(asio::detached);
        runs_ = std::jthread([this] { context_.run(); });
    }
    ~tormented_client()
    {
        locks_.cancel();
        context_.stop();
    }

    /// Works until `over` is set.
    void work(const std::atomic<bool>& over)
    {
        while (!over) {
            try {
                lock_once(500ms);
            }
            catch (const boost::system::system_error&) {
                ++failures;
            }
        }
    }

    void lock_once(milliseconds patience)
    {
        lock_options options;
        options.lease_time = lease_time;
        options.wait_limit = patience;
        options.backoff_ceiling = 100ms;
        const std::string name = "lock" + std::to_string(random_() % 3);
        const mutex m(locks_, name, options);
        grant made{name, 0, number_, clock::now(), {}, {}};
        lease held = m.async_lock(asio::use_future).get();
        made.granted = clock::now();
        made.fence = held.fence();
        const auto until = made.granted + milliseconds(random_() % 30);
        for (auto now = clock::now(); held.valid(); now = clock::now()) {
            made.valid = now; // before the check, because the lease was valid then
            if (now >= until)
                break;
            std::this_thread::sleep_for(1ms);
        }
        grants.push_back(made);
        held.async_release(asio::use_future).get();
    }

    std::vector<grant> grants;
    std::uint64_t failures = 0;

private:
    const std::size_t number_;
    std::mt19937_64 random_;
    asio::io_context context_{1};
    client locks_;
    std::jthread runs_;
};

/// Breaks members, but leaves a majority of them.
class breaker
{
public:
    breaker(quorum_deployment& servers, std::uint64_t seed)
        : servers_(servers), random_(seed), states_(servers.size())
    {}

    void step(clock::time_point now)
    {
        for (std::size_t i = 0; i < states_.size(); ++i)
            mend(i, now);
        const auto broken = static_cast<std::size_t>(
            std::count_if(states_.begin(), states_.end(),
                          [](const broken_server& each) { return each.how != fault::none; }));
        if (now < next_ || broken >= servers_.size() / 2)
            return;
        next_ = now + milliseconds(50 + random_() % 600);
        const std::size_t i = random_() % states_.size();
        if (states_[i].how == fault::none)
            hurt(i, now);
    }

    /// Waits until all servers are members again.
    void heal()
    {
        const auto end = clock::now() + 30s;
        for (bool all = false; !all;) {
            all = true;
            for (std::size_t i = 0; i < states_.size(); ++i) {
                states_[i].until = std::min(states_[i].until, clock::now());
                mend(i, clock::now());
                all = all && states_[i].how == fault::none;
            }
            if (clock::now() > end)
                throw std::runtime_error("a server did not become a member again");
            std::this_thread::sleep_for(5ms);
        }
    }

    std::map<std::string, int> counts;

private:
    enum class fault
    {
        none,
        killed,
        stopped,
        blank, ///< Has restarted, or was emptied, and is no member yet.
    };
    struct broken_server
    {
        fault how = fault::none;
        clock::time_point until{};
    };

    void hurt(std::size_t i, clock::time_point now)
    {
        broken_server& each = states_[i];
        switch (random_() % 5) {
        case 0: {
            // A majority must keep its data, including the members that accepted the same fences.
            const bool alone = std::all_of(
                states_.begin(), states_.end(),
                [](const broken_server& other) { return other.how == fault::none; });
            if (!alone)
                return;
            servers_[i].connect().command({"FLUSHALL"});
            each = {fault::blank, now};
            ++counts["emptied"];
            break;
        }
        case 1:
        case 2:
            servers_[i].kill();
            each = {fault::killed, now + milliseconds(random_() % 400)};
            ++counts["killed"];
            break;
        default:
            servers_[i].pause();
            each = {fault::stopped, now + milliseconds(random_() % 1500)};
            ++counts["stopped"];
        }
    }

    void mend(std::size_t i, clock::time_point now)
    {
        broken_server& each = states_[i];
        if (each.how == fault::none || now < each.until)
            return;
        if (each.how == fault::killed) {
            servers_[i].start();
            each.how = fault::blank;
        }
        else if (each.how == fault::stopped) {
            servers_[i].resume();
            each.how = fault::none;
        }
        else if (servers_.is_member(i)) {
            each.how = fault::none;
        }
    }

    quorum_deployment& servers_;
    std::mt19937_64 random_;
    std::vector<broken_server> states_;
    clock::time_point next_ = clock::now() + 500ms;
};

mistake read_mistake(std::string_view text)
{
    if (text == "fence")
        return mistake::fence;
    if (text == "hold")
        return mistake::hold;
    throw bad_argument("--error", text, "fence or hold");
}

/// The broken promises, if any.
std::vector<std::string> look_at(std::vector<grant> all)
{
    std::vector<std::string> wrong;
    std::map<std::string, std::vector<grant>> of;
    for (grant& each : all)
        of[each.name].push_back(std::move(each));
    for (auto& [name, grants] : of) {
        std::sort(grants.begin(), grants.end(),
                  [](const grant& a, const grant& b) { return a.fence < b.fence; });
        clock::time_point asked = clock::time_point::max();
        for (std::size_t i = grants.size(); i-- > 0;) {
            const grant& each = grants[i];
            if (i > 0 && grants[i - 1].fence == each.fence)
                wrong.push_back(name + ": fence " + std::to_string(each.fence) + " twice");
            // Grants with a smaller fence than one that was known before their request.
            if (i + 1 < grants.size())
                asked = std::min(asked, grants[i + 1].granted);
            if (each.asked > asked)
                wrong.push_back(name + ": fence " + std::to_string(each.fence) +
                                " was asked for when a larger one was known");
        }
        std::sort(grants.begin(), grants.end(),
                  [](const grant& a, const grant& b) { return a.granted < b.granted; });
        for (std::size_t i = 1; i < grants.size(); ++i) {
            if (grants[i].granted < grants[i - 1].valid)
                wrong.push_back(name + ": fences " + std::to_string(grants[i - 1].fence) + " and " +
                                std::to_string(grants[i].fence) + " were held at the same time");
        }
    }
    return wrong;
}

} // namespace

int main(int argc, char** argv)
{
    std::uint64_t seconds = 60;
    std::uint64_t seed = std::random_device()();
    std::uint64_t members = 5;
    std::uint64_t crew = 4;
    mistake wrong = mistake::none;
    try {
        command_line()
            .number("--seconds", seconds)
            .number("--seed", seed)
            .number("--members", members)
            .number("--clients", crew)
            .value("--error", [&](const std::string& given) { wrong = read_mistake(given); })
            .flag("--help",
                  [] {
                      std::cout << usage;
                      std::exit(0);
                  })
            .read(argc, argv);
        std::printf("seed %llu, %llu members, %llu clients, %llu s\n",
                    static_cast<unsigned long long>(seed), static_cast<unsigned long long>(members),
                    static_cast<unsigned long long>(crew),
                    static_cast<unsigned long long>(seconds));
        std::fflush(stdout);
        quorum_deployment servers(members, {"--appendonly", "yes", "--appendfsync", "everysec"});
        redis_config settings = servers.settings();
        settings.health_check = 200ms;
        rounds counts;
        std::vector<std::unique_ptr<tormented_client>> clients;
        for (std::size_t i = 0; i < crew; ++i)
            clients.push_back(
                std::make_unique<tormented_client>(settings, counts, wrong, i, seed * 31 + i));
        clients.front()->lock_once(10s); // all servers are running, and become members
        std::atomic<bool> over = false;
        breaker evil(servers, seed);
        {
            std::vector<std::jthread> working;
            for (const auto& each : clients)
                working.emplace_back([&] { each->work(over); });
            // A deliberate error gets as many attempts as it needs, even on a slow machine.
            const auto goes_on = [&, end = clock::now() + std::chrono::seconds(seconds)] {
                const auto now = clock::now();
                return now < end || (wrong != mistake::none && counts.first < enough_tries &&
                                     now < end + std::chrono::minutes(1));
            };
            while (goes_on()) {
                evil.step(clock::now());
                std::this_thread::sleep_for(5ms);
            }
            evil.heal();
            over = true;
        }
        for (const auto& each : clients)
            each->lock_once(10s); // every client acquires the lock once more
        std::vector<grant> all;
        std::uint64_t failures = 0;
        for (const auto& each : clients) {
            all.insert(all.end(), each->grants.begin(), each->grants.end());
            failures += each->failures;
        }
        const std::size_t grants = all.size();
        const auto violations = look_at(std::move(all));
        std::printf("servers:");
        for (const auto& [what, times] : evil.counts)
            std::printf(" %d times %s", times, what.c_str());
        const double first = double(counts.first.load());
        const double second = double(counts.second.load());
        std::printf("\n%zu grants, %llu tries that failed; %.1f %% of the votes took one round "
                    "trip\n%zu violations\n",
                    grants, static_cast<unsigned long long>(failures),
                    first > 0 ? 100 * (1 - second / first) : 0.0, violations.size());
        // For a deliberate error, a few violations are enough.
        const std::size_t shown = wrong == mistake::none ? violations.size() : 3;
        for (std::size_t i = 0; i < std::min(shown, violations.size()); ++i)
            std::printf("  %s\n", violations[i].c_str());
        return violations.empty() == (wrong == mistake::none) && grants > crew ? 0 : 1;
    }
    catch (const std::exception& failed) {
        std::cerr << "error: " << failed.what() << '\n';
        return 2;
    }
}
