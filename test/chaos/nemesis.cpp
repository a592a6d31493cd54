#include "chaos/nemesis.hpp"

#include <leasehold/clock.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace leasehold::test::chaos {
namespace {

using namespace std::chrono_literals;

constexpr auto kinds = static_cast<std::size_t>(fault_kind::count_);

constexpr std::array<const char*, kinds> names = {
    "server killed",       "last writes lost",   "server stopped",  "DEBUG SLEEP",     "slow script, BUSY",
    "SCRIPT FLUSH",        "FLUSHALL",           "key deleted",     "CLIENT KILL",     "out of memory",
    "client stopped",      "client killed",      "blackhole",       "requests lost",   "replies lost",
    "replies held back",   "connections reset",  "reset around a command", "connections refused", "latency",
};

bool at_server(fault_kind kind)
{
    return kind < fault_kind::stop_client;
}

bool loses_data(fault_kind kind, persistence how)
{
    switch (kind) {
    case fault_kind::kill_server: return how != persistence::always;
    case fault_kind::power_cut:
    case fault_kind::flush_all:
    case fault_kind::delete_key: return true;
    default: return false;
    }
}

// Two at a time show what one alone does not; of more nobody could tell which it was.
constexpr std::size_t at_once = 2;

} // namespace

stamp boot_time() noexcept
{
    return clock::now().time_since_epoch();
}

const char* name_of(fault_kind kind) noexcept
{
    return names[static_cast<std::size_t>(kind)];
}

std::vector<std::string> options_for(persistence how)
{
    std::vector<std::string> options{"--maxmemory-policy", "noeviction", "--lua-time-limit", "20"};
    if (how != persistence::none)
        options.insert(options.end(), {"--appendonly", "yes", "--auto-aof-rewrite-percentage", "0", "--appendfsync",
                                       how == persistence::always ? "always" : "everysec"});
    return options;
}

nemesis::nemesis(std::uint64_t seed, persistence how, std::chrono::milliseconds lease, std::vector<std::string> locks,
                 redis_server& server, crew& clients)
    : random_(seed), persistence_(how), lease_(lease), names_(std::move(locks)), server_(server), crew_(clients),
      next_(boot_time() + 300ms), sleeps_(!server.connect().command({"DEBUG", "SLEEP", "0"}).is_error())
{}

bool nemesis::busy(std::size_t place) const
{
    return std::any_of(active_.begin(), active_.end(), [&](const active& each) { return each.place == place; });
}

bool nemesis::known(fault_kind kind) const
{
    return (kind != fault_kind::power_cut || persistence_ == persistence::everysec) && (kind != fault_kind::sleep_server || sleeps_);
}

stamp nemesis::lease_times(int tenths_from, int tenths_to)
{
    return stamp(lease_) * random_.between(tenths_from, tenths_to) / 10;
}

void nemesis::done(const std::vector<std::string>& command)
{
    server_.connect().done(command);
}

void nemesis::step(stamp now)
{
    for (active& each : active_)
        if (each.until <= now)
            end(each);
    std::erase_if(active_, [&](const active& each) { return each.until <= now; });
    if (resting_ && active_.empty()) {
        resting_ = false;
        next_ = now + random_.between(300, 900) * 1ms;
    }
    if (resting_ || now < next_ || active_.size() == at_once || !begin_next(now))
        return;
    next_ = now + random_.between(50, 400) * 1ms;
    resting_ = random_.below(4) == 0;
}

void nemesis::heal()
{
    for (active& each : active_)
        end(each);
    active_.clear();
}

fault_kind nemesis::next_kind()
{
    if (bag_.empty()) {
        for (std::size_t i = 0; i < kinds; ++i)
            if (known(static_cast<fault_kind>(i)))
                bag_.insert(bag_.begin() + static_cast<std::ptrdiff_t>(random_.below(bag_.size() + 1)), static_cast<fault_kind>(i));
    }
    // One that can be done now; the others stay for later.
    auto found = std::find_if(bag_.rbegin(), bag_.rend(), [&](fault_kind each) { return !at_server(each) || !busy(the_server); });
    if (found == bag_.rend())
        return fault_kind::count_;
    const fault_kind kind = *found;
    bag_.erase(std::next(found).base());
    return kind;
}

std::size_t nemesis::free_client()
{
    std::size_t chosen = random_.below(crew_.size());
    while (busy(chosen))
        chosen = (chosen + 1) % crew_.size();
    return chosen;
}

bool nemesis::begin_next(stamp now)
{
    const fault_kind kind = next_kind();
    if (kind == fault_kind::count_)
        return false;
    active next{.kind = kind, .place = at_server(kind) ? the_server : free_client(), .until = now, .logged = log_.size()};
    log_.push_back({.what = name_of(kind),
                    .whom = next.place == the_server ? "server" : crew_.name(next.place),
                    .begin = boot_time(),
                    .end = stamp::max(),
                    .loses = loses_data(kind, persistence_)});
    begin(next);
    if (next.until > now)
        active_.push_back(std::move(next));
    else
        log_[next.logged].end = boot_time();
    return true;
}

void nemesis::begin(active& what)
{
    if (what.place == the_server)
        begin_for_server(what);
    else
        begin_for_client(what);
}

void nemesis::begin_for_server(active& what)
{
    const stamp now = what.until;
    switch (what.kind) {
    case fault_kind::kill_server:
        server_.kill();
        what.until = now + random_.between(1, 500) * 1ms;
        return;
    case fault_kind::power_cut:
        if (const auto file = append_only_file())
            what.size = std::filesystem::file_size(*file);
        what.until = now + random_.between(100, 1000) * 1ms;
        return;
    case fault_kind::stop_server:
        server_.pause();
        what.until = now + lease_times(11, 20);
        return;
    case fault_kind::sleep_server: {
        const stamp time = lease_times(5, 20);
        what.connection = std::make_unique<resp_client>(server_.endpoint());
        what.connection->send({"DEBUG", "SLEEP", std::to_string(std::chrono::duration<double>(time).count())});
        what.until = now + time;
        return;
    }
    case fault_kind::slow_script:
        what.connection = std::make_unique<resp_client>(server_.endpoint());
        what.connection->send({"EVAL", "while true do end", "0"});
        what.until = now + lease_times(5, 20);
        return;
    case fault_kind::flush_scripts: return done({"SCRIPT", "FLUSH"});
    case fault_kind::flush_all: return done({"FLUSHALL"});
    case fault_kind::delete_key:
        log_[what.logged].name = names_[random_.below(names_.size())];
        return done({"DEL", log_[what.logged].name});
    case fault_kind::kill_connections:
        done({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
        return done({"CLIENT", "KILL", "TYPE", "pubsub"});
    case fault_kind::out_of_memory:
        done({"CONFIG", "SET", "maxmemory", "1"});
        what.until = now + lease_times(5, 20);
        return;
    default: return;
    }
}

void nemesis::begin_for_client(active& what)
{
    const stamp now = what.until;
    fault_proxy& proxy = crew_.proxy(what.place);
    what.until = now + lease_times(5, 20);
    switch (what.kind) {
    case fault_kind::stop_client:
        crew_.pause(what.place);
        what.until = now + lease_times(11, 20);
        return;
    case fault_kind::kill_client:
        crew_.kill(what.place);
        what.until = now + random_.between(1, 300) * 1ms;
        return;
    case fault_kind::blackhole: return proxy.stall();
    case fault_kind::drop_requests: return proxy.drop_requests();
    case fault_kind::drop_replies: return proxy.drop_replies();
    case fault_kind::hold_replies: return proxy.stall_replies();
    case fault_kind::refuse_connections:
        proxy.refuse();
        return proxy.reset_all();
    case fault_kind::latency: {
        const stamp each_way = lease_times(2, 12); // there and back from a part of the lease to more than two
        proxy.delay(std::chrono::duration_cast<std::chrono::milliseconds>(each_way));
        what.until = now + lease_times(15, 30);
        return;
    }
    default: break;
    }
    what.until = now;
    if (what.kind == fault_kind::reset_connections)
        return proxy.reset_all();
    const std::string command = "EVALSHA";
    switch (random_.below(4)) {
    case 0: return proxy.forward_then_reset(command);
    case 1: return proxy.reset_before(command);
    case 2: return proxy.cut_after_request_bytes(random_.below(200), command);
    default: return proxy.cut_after_reply_bytes(random_.below(20), command);
    }
}

void nemesis::end(active& what)
{
    switch (what.kind) {
    case fault_kind::kill_server: server_.start(); break;
    case fault_kind::power_cut:
        // Until now it was only waiting for something to lose.
        log_[what.logged].begin = boot_time();
        server_.kill();
        if (const auto file = append_only_file(); file && what.size < std::filesystem::file_size(*file))
            std::filesystem::resize_file(*file, what.size);
        server_.start();
        break;
    case fault_kind::stop_server: server_.resume(); break;
    case fault_kind::sleep_server: what.connection->receive(); break;
    case fault_kind::slow_script:
        done({"SCRIPT", "KILL"});
        what.connection->receive();
        break;
    case fault_kind::out_of_memory: done({"CONFIG", "SET", "maxmemory", "0"}); break;
    case fault_kind::stop_client: crew_.resume(what.place); break;
    case fault_kind::kill_client: crew_.start(what.place); break;
    case fault_kind::refuse_connections: crew_.proxy(what.place).accept(); break;
    case fault_kind::latency: crew_.proxy(what.place).delay({}); break;
    default: crew_.proxy(what.place).forward(); break;
    }
    log_[what.logged].end = boot_time();
}

std::optional<std::filesystem::path> nemesis::append_only_file() const
{
    for (const auto& each : std::filesystem::recursive_directory_iterator(server_.directory())) {
        const std::string name = each.path().filename().string();
        if (name.ends_with(".incr.aof") || name == "appendonly.aof")
            return each.path();
    }
    return std::nullopt;
}

} // namespace leasehold::test::chaos
