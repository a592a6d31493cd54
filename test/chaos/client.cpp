// A process that takes locks in every possible way, writes to the register under them, and records
// its beliefs.
//
//   chaos_client URL REGISTER HISTORY NAME SEED LEASE_MS LOCKS WORKERS FENCED PAUSES ACKS
//                PROMISES PORTS
//
// LOCKS are joined by commas. With FENCED 0 the register checks no fence. PAUSES times, between
// reading `valid()` and writing, it prints "between LOCK" and waits until it was stopped and
// continued. ACKS replicas have to confirm each lock. With PROMISES 1 it sends heartbeats, and
// LEASE_MS is the grace. PORTS, `7000=41000,7001=41001`, are those that nodes of a cluster
// announce, and those to use instead. Reads, one line at a time:
//   hold LOCK   takes it, and keeps it until it is lost, or "settle" comes
//   work LOCK   one worker more, which takes no other lock
//   try LOCK    once; releases it at once
//   settle      finishes its outstanding work, takes every lock once more, prints "settled"
//   quit        holds or waits for every lock, shuts its client down with all that, and ends
#include "chaos/history.hpp"
#include "chaos/register.hpp"
#include "support/tested_layout.hpp"
#include "testing/time/random.hpp"

#include <leasehold.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace leasehold::test::chaos;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using std::chrono::milliseconds;
using testing::impl::generator;

stamp now()
{
    return clock::now().time_since_epoch();
}

/// One word for an error, without blanks.
std::string word_of(error_code code)
{
    constexpr std::array<std::pair<errc, std::string_view>, 17> words = {{
        {errc::held, "held"},
        {errc::timed_out, "timed_out"},
        {errc::lost, "lost"},
        {errc::expired, "expired"},
        {errc::not_owner, "not_owner"},
        {errc::hold_limit, "hold_limit"},
        {errc::wrong_type, "wrong_type"},
        {errc::not_running, "not_running"},
        {errc::shut_down, "shut_down"},
        {errc::permission_denied, "permission_denied"},
        {errc::store_refused, "store_refused"},
        {errc::store_unavailable, "store_unavailable"},
        {errc::outcome_unknown, "outcome_unknown"},
        {errc::not_supported, "not_supported"},
        {errc::not_replicated, unconfirmed},
        {errc::no_quorum, outvoted},
        {errc::silent, "silent"},
    }};
    if (!code)
        return std::string(fine);
    if (code == asio::error::operation_aborted)
        return "aborted";
    for (const auto& [which, word] : words)
        if (code == which)
            return std::string(word);
    return std::string(code.category().name()) + ':' + std::to_string(code.value());
}

/// The history: every line is in the file when the call returns.
class chronicle
{
public:
    explicit chronicle(const std::string& path)
        : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600))
    {
        if (file_ < 0)
            throw std::system_error(errno, std::generic_category(), path);
    }
    ~chronicle() { ::close(file_); }
    chronicle(const chronicle&) = delete;
    chronicle& operator=(const chronicle&) = delete;

    void put(const event& e)
    {
        const std::string line = to_line(e);
        if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
            throw std::system_error(errno, std::generic_category(),
                                    "the history cannot be written");
    }

private:
    int file_;
};

/// A lease that a coroutine holds, with its context.
struct holding
{
    holding(chronicle& to, const asio::any_io_executor& executor, std::string lock,
            std::uint32_t operation, lease& from)
        : log(to),
          name(std::move(lock)),
          op(operation),
          fence(from.fence()),
          held(&from),
          timer(executor)
    {}

    /// The current state. The time is read first, so a lease that is valid afterwards was valid at
    /// that time.
    event look(verb kind) const
    {
        event out{.at = now(), .what = kind, .name = name, .op = op, .fence = fence};
        out.flag = held != nullptr && held->valid();
        out.number =
            (held != nullptr ? held->deadline() : last_deadline).time_since_epoch().count();
        return out;
    }

    event note(verb kind, std::int64_t value = 0) const
    {
        return {.at = now(), .what = kind, .name = name, .op = op, .fence = fence, .number = value};
    }

    /// The lease is about to be released.
    void leave(verb how)
    {
        log.put(look(how));
        last_deadline = held->deadline();
        held = nullptr;
    }

    chronicle& log;
    const std::string name;
    const std::uint32_t op;
    const std::uint64_t fence;
    lease* held;
    clock::time_point last_deadline{};
    clock::time_point before; ///< The deadline at the reply to the last renewal.
    asio::steady_timer timer; ///< A timer for the work under the lease.
    bool lost = false;
};

using holding_ptr = std::shared_ptr<holding>;

struct settings
{
    std::string url;
    std::string register_socket;
    std::string history;
    std::string name;
    std::uint64_t seed = 0;
    milliseconds lease{};
    std::vector<std::string> locks;
    int workers = 0;
    bool fenced = true;
    int pauses = 0;
    std::uint32_t replica_acks = 0;
    bool promises = false;
    std::vector<std::string> ports;
};

class program final : public std::enable_shared_from_this<program>
{
public:
    explicit program(const settings& from)
        : set_(from),
          log_(from.history),
          store_(from.register_socket, from.fenced),
          witness_(std::make_shared<witness>(*this)),
          locks_(context_, store_of(from), witness_),
          heartbeat_(context_),
          input_(context_, ::dup(STDIN_FILENO)),
          pauses_(from.pauses)
    {}

    int run()
    {
        locks_.async_run([this](error_code code) { failed_ = failed_ || code; });
        beat();
        read_command();
        for (int i = 0; i < set_.workers; ++i)
            start(worker(next_generator(), set_.locks));
        std::cout << "ready" << std::endl;
        context_.run();
        return failed_ || running_ != 0 ? 1 : 0;
    }

private:
    /// Records the notifications of the library.
    class witness final : public observer
    {
    public:
        explicit witness(program& of) : of_(of) {}

        /// Called before the effects of the reply, in the same run of the loop.
        void answered(store_request, duration took, error_code) noexcept override
        {
            took_ = took;
            for (const auto& [which, each] : of_.in_)
                each->before = each->held->deadline();
        }

        void acquired(std::string_view name, std::uint64_t fence, duration waited,
                      bool handed_off) noexcept override
        {
            const bool promised = of_.set_.promises && !handed_off;
            of_.log_.put({.at = now(),
                          .what = verb::given,
                          .name = std::string(name),
                          .fence = fence,
                          .number = promised ? (waited - took_).count() : 0,
                          .word = handed_off ? "handed"
                                  : promised ? "promised"
                                             : "fresh"});
        }

        void renewed(std::string_view name, std::uint64_t fence, duration took,
                     duration left) noexcept override
        {
            const auto found = of_.in_.find({std::string(name), fence});
            if (found != of_.in_.end()) {
                event told = found->second->look(verb::renewed);
                if (of_.set_.promises) {
                    const stamp sent = (found->second->before - left - took).time_since_epoch();
                    told.word = std::to_string(sent.count());
                }
                of_.log_.put(told);
            }
            else
                of_.log_.put({.at = now(),
                              .what = verb::renewed,
                              .name = std::string(name),
                              .fence = fence});
        }

    private:
        program& of_;
        duration took_{}; ///< The duration of the last request.
    };

    static std::shared_ptr<store> store_of(const settings& from)
    {
        // The URL of another store has all its settings.
        return from.url.starts_with("redis") ? make_redis_store(at(from)) : make_store(from.url);
    }

    static redis_config at(const settings& from)
    {
        redis_config settings(from.url);
        for (const std::string& each : from.ports) {
            const std::size_t middle = each.find('=');
            const auto address = [](const std::string& port) {
                return redis_config::address{"127.0.0.1",
                                             static_cast<std::uint16_t>(std::stoul(port))};
            };
            settings.address_map.push_back(
                {address(each.substr(0, middle)), address(each.substr(middle + 1))});
        }
        settings.layout = tested_layout();
        settings.timeout = 600ms;
        settings.health_check = 300ms;
        settings.reconnect = 20ms;
        return settings;
    }

    lock_options options() const
    {
        lock_options out;
        out.lease_time = set_.lease;
        out.backoff_ceiling = 250ms;
        out.replica_acks = set_.replica_acks;
        // With a grace, the grace limits the wait of others and the deadline.
        if (set_.promises) {
            out.dead_holder_grace = set_.lease;
            out.lease_time = promised_lease * set_.lease;
        }
        return out;
    }

    void start(asio::awaitable<void> task)
    {
        ++running_;
        asio::co_spawn(context_, std::move(task), [this](std::exception_ptr failure) {
            --running_;
            if (failure) {
                failed_ = true;
                try {
                    std::rethrow_exception(failure);
                }
                catch (const std::exception& why) {
                    std::cerr << set_.name << ": " << why.what() << std::endl;
                }
            }
            if (running_ == 0 && settling_ && !std::exchange(settled_, true))
                std::cout << "settled" << std::endl;
        });
    }

    // A timer of the loop that runs everything else: if it is late, all the rest is late too.
    void beat()
    {
        constexpr auto period = 10ms;
        const stamp due = now() + period;
        heartbeat_.expires_after(period);
        heartbeat_.async_wait([this, due](error_code) {
            if (closed_) // cancelled by us, not by the timer, which may have expired before
                return;
            if (const stamp late = now(); late - due > 5ms)
                log_.put({.at = late, .what = verb::stalled, .number = due.count()});
            beat();
        });
    }

    void read_command()
    {
        asio::async_read_until(input_, asio::dynamic_buffer(received_), '\n',
                               [this](error_code ended, std::size_t size) {
                                   if (ended)
                                       return;
                                   const std::string line = received_.substr(0, size - 1);
                                   received_.erase(0, size);
                                   obey(line);
                                   read_command();
                               });
    }

    void obey(const std::string& line)
    {
        std::istringstream words(line);
        std::string what, name;
        words >> what >> name;
        if (what == "settle")
            settle();
        else if (what == "quit")
            quit();
        else if (what == "hold")
            start(once(name, way::lock));
        else if (what == "work")
            start(worker(next_generator(), {name}));
        else if (what == "try")
            start(once(name, way::try_once));
    }

    generator next_generator() { return generator(set_.seed * 1000 + generators_++); }

    void settle()
    {
        settling_ = true;
        for (const auto& [which, each] : in_)
            each->timer.cancel();
        for (const std::string& name : set_.locks)
            start(once(name, way::probe));
    }

    void quit()
    {
        for (const std::string& name : set_.locks)
            start(once(name, way::last));
        auto timer = std::make_shared<asio::steady_timer>(context_, 50ms);
        timer->async_wait([this, timer](error_code) {
            log_.put({.at = now(), .what = verb::closing});
            locks_.async_shutdown([this](error_code code) {
                const client_stats had = locks_.stats();
                log_.put({.at = now(),
                          .what = verb::closed,
                          .number = static_cast<std::int64_t>(had.held + had.waiting + had.orphans),
                          .word = word_of(code)});
                closed_ = true;
                heartbeat_.cancel();
                input_.close();
            });
        });
    }

    std::uint32_t ask(const std::string& name, std::string_view how)
    {
        ++operations_;
        log_.put({.at = now(),
                  .what = verb::asked,
                  .name = name,
                  .op = operations_,
                  .word = std::string(how)});
        return operations_;
    }

    void not_granted(const std::string& name, std::uint32_t op, error_code why)
    {
        const bool cancelled = why == asio::error::operation_aborted;
        log_.put({.at = now(),
                  .what = cancelled ? verb::cancelled : verb::failed,
                  .name = name,
                  .op = op,
                  .word = cancelled ? std::string() : word_of(why)});
    }

    holding_ptr granted(const std::string& name, std::uint32_t op, lease& held)
    {
        auto mine = std::make_shared<holding>(log_, context_.get_executor(), name, op, held);
        log_.put(mine->look(verb::granted));
        in_[{name, mine->fence}] = mine.get();
        held.async_wait_lost([this, mine](error_code why) {
            if (why == asio::error::operation_aborted)
                return;
            event told = mine->look(verb::lost);
            told.word = word_of(why);
            log_.put(told);
            mine->lost = true;
            mine->timer.cancel();
        });
        return mine;
    }

    void leave(holding& mine, verb how)
    {
        mine.leave(how);
        in_.erase({mine.name, mine.fence});
    }

    void released(const holding& mine, error_code code)
    {
        event told = mine.note(verb::released);
        told.word = word_of(code);
        log_.put(told);
    }

    /// Reads the register, waits and writes. Ends early if the lease is lost, unless `careless`.
    asio::awaitable<void> work(holding& mine, milliseconds time, bool careless)
    {
        const auto value = store_.read(mine.name, mine.fence);
        log_.put(mine.note(value ? verb::read : verb::stale, value.value_or(0)));
        if (!value)
            co_return;
        if (time.count() > 0 && !mine.lost && !settling_) {
            error_code ignored;
            mine.timer.expires_after(time);
            co_await mine.timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        }
        if (!careless && (mine.held == nullptr || !mine.held->valid()))
            co_return;
        if (pauses_ > 0) {
            --pauses_;
            stop_between(mine.name);
        }
        const std::int64_t next = *value + 1;
        log_.put(mine.note(verb::writing, next));
        const bool taken = store_.put(mine.name, {mine.fence, next, set_.name, mine.op});
        log_.put(mine.note(taken ? verb::wrote : verb::refused, next));
    }

    /// No code of this process runs until the process has been stopped and continued.
    static void stop_between(const std::string& name)
    {
        sigset_t continued;
        sigemptyset(&continued);
        sigaddset(&continued, SIGCONT); // blocked since the start
        std::cout << "between " << name << std::endl;
        int number = 0;
        while (sigwait(&continued, &number) != 0) {
        }
    }

    asio::awaitable<void> worker(generator random, std::vector<std::string> names)
    {
        asio::steady_timer pause(context_);
        while (!settling_) {
            pause.expires_after(milliseconds(random.between(0, 20)));
            co_await pause.async_wait(asio::use_awaitable);
            if (!settling_)
                co_await round(random, names[random.below(names.size())]);
        }
    }

    milliseconds working_time(generator& random)
    {
        const auto draw = random.below(100);
        if (draw < 75)
            return milliseconds(random.between(0, 3));
        if (draw < 98)
            return milliseconds(random.between(3, 30));
        return set_.lease * random.between(11, 16) / 10; // long enough to need a renewal
    }

    asio::awaitable<void> round(generator& random, const std::string& name)
    {
        const auto draw = random.below(100);
        if (draw < 12)
            co_return co_await guarded(name, random);
        lock_options how = options();
        how.renew = draw >= 16;
        const mutex lock(locks_, name, how);
        const auto limit = milliseconds(random.between(0, 300));
        constexpr std::array types = {asio::cancellation_type::terminal,
                                      asio::cancellation_type::partial,
                                      asio::cancellation_type::total};
        const auto type = types[random.below(types.size())];
        error_code code;
        lease held;
        std::uint32_t op = 0;
        if (!how.renew) {
            op = ask(name, way::unrenewed);
            held = co_await lock.async_lock(asio::redirect_error(asio::use_awaitable, code));
        }
        else if (draw < 36) {
            op = ask(name, way::cancel);
            held = co_await lock.async_lock(asio::cancel_after(
                limit / 2, type, asio::redirect_error(asio::use_awaitable, code)));
        }
        else if (draw < 51) {
            op = ask(name, way::try_once);
            held = co_await lock.async_try_lock(asio::redirect_error(asio::use_awaitable, code));
        }
        else if (draw < 71) {
            op = ask(name, way::try_for);
            held = co_await lock.async_try_lock_for(
                limit, asio::redirect_error(asio::use_awaitable, code));
        }
        else {
            op = ask(name, way::lock);
            held = co_await lock.async_lock(asio::redirect_error(asio::use_awaitable, code));
        }
        if (code)
            co_return not_granted(name, op, code);
        const holding_ptr mine = granted(name, op, held);
        // Some of the leases that are not renewed are kept for too long.
        const bool overstays = !how.renew && random.below(5) == 0;
        const auto time = overstays   ? set_.lease * 3 / 2
                          : how.renew ? working_time(random)
                                      : milliseconds(random.between(0, 10));
        co_await work(*mine, time, random.below(3) == 0);
        co_await end(*mine, held, random);
    }

    asio::awaitable<void> end(holding& mine, lease& held, generator& random)
    {
        const auto draw = random.below(100);
        error_code code;
        if (draw < 12) {
            leave(mine, verb::dropped);
            held = lease();
            co_return;
        }
        leave(mine, verb::releasing);
        if (draw < 20)
            co_await held.async_release(asio::cancel_after(
                milliseconds(draw % 3), asio::redirect_error(asio::use_awaitable, code)));
        else
            co_await held.async_release(asio::redirect_error(asio::use_awaitable, code));
        released(mine, code);
    }

    asio::awaitable<void> guarded(const std::string& name, generator& random)
    {
        const mutex lock(locks_, name, options());
        const std::uint32_t op = ask(name, way::guarded);
        const auto time = working_time(random);
        bool reentered = false;
        auto body = [&](lease& held) -> asio::awaitable<void> {
            reentered = true;
            const holding_ptr mine = granted(name, op, held);
            try {
                co_await work(*mine, time, false);
            }
            catch (const boost::system::system_error&) {
                // Cancelled, because the lease is lost.
            }
            leave(*mine, verb::releasing);
        };
        try {
            co_await with_lock(lock, body, asio::use_awaitable);
        }
        catch (const boost::system::system_error& why) {
            if (!reentered)
                not_granted(name, op, why.code());
        }
    }

    /// Acquires one lock without a time limit. A probe writes and releases, a try releases, and the
    /// other ways keep the lease until it is lost, "settle" is read, or a minute has passed. A lock
    /// that a replica confirms slowly is requested again.
    asio::awaitable<void> once(std::string name, std::string_view how)
    {
        const mutex lock(locks_, name, options());
        error_code code;
        lease held;
        std::uint32_t op = 0;
        do {
            op = ask(name, how);
            if (how == way::try_once)
                held = co_await lock.async_try_lock(
                    asio::redirect_error(asio::use_awaitable, code));
            else
                held = co_await lock.async_lock(asio::redirect_error(asio::use_awaitable, code));
            if (code)
                not_granted(name, op, code);
        } while (code == errc::not_replicated && how != way::try_once);
        if (code)
            co_return;
        const holding_ptr mine = granted(name, op, held);
        if (how == way::probe)
            co_await work(*mine, 0ms, false);
        else if (!mine->lost && how != way::try_once && (how == way::last || !settling_)) {
            error_code ignored;
            mine->timer.expires_after(60s);
            co_await mine->timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        }
        leave(*mine, verb::releasing);
        co_await held.async_release(asio::redirect_error(asio::use_awaitable, code));
        released(*mine, code);
    }

    const settings set_;
    asio::io_context context_{1};
    chronicle log_;
    fenced_register store_;
    std::shared_ptr<witness> witness_;
    client locks_;
    asio::steady_timer heartbeat_;
    asio::posix::stream_descriptor input_;
    std::string received_;
    std::map<std::pair<std::string, std::uint64_t>, holding*> in_;
    std::uint32_t operations_ = 0;
    std::uint64_t generators_ = 0;
    int running_ = 0;
    int pauses_;
    bool settling_ = false;
    bool settled_ = false;
    bool closed_ = false;
    bool failed_ = false;
};

std::vector<std::string> split(const std::string& text)
{
    std::vector<std::string> parts;
    std::istringstream from(text);
    for (std::string each; std::getline(from, each, ',');)
        parts.push_back(each);
    return parts;
}

} // namespace

int main(int count, char** words)
try {
    if (count != 14)
        return 2;
    sigset_t continued;
    sigemptyset(&continued);
    sigaddset(&continued, SIGCONT);
    sigprocmask(SIG_BLOCK, &continued, nullptr);
    program self({.url = words[1],
                  .register_socket = words[2],
                  .history = words[3],
                  .name = words[4],
                  .seed = std::stoull(words[5]),
                  .lease = milliseconds(std::stoll(words[6])),
                  .locks = split(words[7]),
                  .workers = std::stoi(words[8]),
                  .fenced = std::string(words[9]) == "1",
                  .pauses = std::stoi(words[10]),
                  .replica_acks = static_cast<std::uint32_t>(std::stoul(words[11])),
                  .promises = std::string(words[12]) == "1",
                  .ports = split(words[13])});
    return self.run();
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
