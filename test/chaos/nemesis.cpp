#include "chaos/nemesis.hpp"

#include <leasehold/clock.hpp>

#include <algorithm>
#include <utility>

namespace leasehold::test::chaos {

stamp boot_time() noexcept
{
    return clock::now().time_since_epoch();
}

std::vector<std::string> options_for(persistence how)
{
    std::vector<std::string> options{"--maxmemory-policy", "noeviction", "--lua-time-limit", "20"};
    if (how != persistence::none)
        options.insert(options.end(),
                       {"--appendonly", "yes", "--auto-aof-rewrite-percentage", "0",
                        "--appendfsync", how == persistence::always ? "always" : "everysec"});
    return options;
}

bool can_sleep(const redis_server& server)
{
    return !server.connect().command({"DEBUG", "SLEEP", "0"}).is_error();
}

nemesis::nemesis(std::vector<planned_fault> plan, persistence how, std::chrono::milliseconds lease,
                 std::vector<std::string> locks, redis_server& server, client_fleet& clients)
    : plan_(std::move(plan)),
      persistence_(how),
      lease_(lease),
      names_(std::move(locks)),
      server_(server),
      crew_(clients),
      started_(boot_time())
{}

bool nemesis::busy(std::size_t place) const
{
    return std::any_of(active_.begin(), active_.end(),
                       [&](const active& each) { return each.what.place == place; });
}

void nemesis::step(stamp now)
{
    for (active& each : active_)
        if (each.until <= now)
            end(each);
    std::erase_if(active_, [&](const active& each) { return each.until <= now; });
    if (next_ == plan_.size())
        return;
    const planned_fault& next = plan_[next_];
    if (now < started_ + next.begin || active_.size() == most_at_once || busy(next.place))
        return;
    ++next_;
    begin(next, now);
}

void nemesis::heal()
{
    for (active& each : active_)
        end(each);
    active_.clear();
}

void nemesis::begin(const planned_fault& planned, stamp now)
{
    log_.push_back({.what = name_of(planned.kind),
                    .whom = planned.place == the_server ? "server" : crew_.name(planned.place),
                    .begin = boot_time(),
                    .end = stamp::max(),
                    .loses = loses_data(planned.kind, persistence_),
                    .name = planned.kind == fault_kind::delete_key
                                ? names_[planned.detail % names_.size()]
                                : std::string()});
    active_.push_back({.what = planned, .until = now + planned.length, .logged = log_.size() - 1});
    if (planned.place == the_server)
        begin_at_server(active_.back());
    else
        begin_at_client(planned);
    if (planned.length.count() == 0) {
        log_.back().end = boot_time();
        active_.pop_back();
    }
}

void nemesis::begin_at_server(active& fault)
{
    const auto send = [&](const std::vector<std::string>& command) {
        fault.connection = std::make_unique<resp_client>(server_.endpoint());
        fault.connection->send(command);
    };
    switch (fault.what.kind) {
    case fault_kind::kill_server: return server_.kill();
    case fault_kind::power_cut:
        if (const auto file = append_only_file())
            fault.size = std::filesystem::file_size(*file);
        return;
    case fault_kind::stop_server: return server_.pause();
    case fault_kind::sleep_server:
        return send({"DEBUG", "SLEEP",
                     std::to_string(std::chrono::duration<double>(fault.what.length).count())});
    case fault_kind::slow_script: return send({"EVAL", "while true do end", "0"});
    case fault_kind::flush_scripts: return done({"SCRIPT", "FLUSH"});
    case fault_kind::flush_all: return done({"FLUSHALL"});
    case fault_kind::delete_key: return done({"DEL", log_[fault.logged].name});
    case fault_kind::kill_connections:
        done({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
        return done({"CLIENT", "KILL", "TYPE", "pubsub"});
    case fault_kind::out_of_memory: return done({"CONFIG", "SET", "maxmemory", "1"});
    default: return;
    }
}

void nemesis::begin_at_client(const planned_fault& planned)
{
    fault_proxy& proxy = crew_.proxy(planned.place);
    const std::string command =
        "EVALSHA"; // what every request is that takes, renews or leaves a lock
    switch (planned.kind) {
    case fault_kind::stop_client: return crew_.pause(planned.place);
    case fault_kind::kill_client: return crew_.kill(planned.place);
    case fault_kind::half_open: return proxy.drop();
    case fault_kind::blackhole: return proxy.stall();
    case fault_kind::drop_requests: return proxy.drop_requests();
    case fault_kind::drop_replies: return proxy.drop_replies();
    case fault_kind::hold_replies: return proxy.stall_replies();
    case fault_kind::reset_connections: return proxy.reset_all();
    case fault_kind::refuse_connections: proxy.refuse(); return proxy.reset_all();
    case fault_kind::latency:
        // There and back: from a part of the lease to more than two.
        return proxy.delay(lease_ * (2 + planned.detail % 11) / 10);
    case fault_kind::reset_around_command:
        switch (planned.detail % 4) {
        case 0: return proxy.forward_then_reset(command);
        case 1: return proxy.reset_before(command);
        case 2: return proxy.cut_after_request_bytes(planned.detail / 4 % 200, command);
        default: return proxy.cut_after_reply_bytes(planned.detail / 4 % 20, command);
        }
    default: return;
    }
}

void nemesis::end(active& fault)
{
    const std::size_t place = fault.what.place;
    switch (fault.what.kind) {
    case fault_kind::kill_server: server_.start(); break;
    case fault_kind::power_cut:
        // Until now it was only waiting for something to lose.
        log_[fault.logged].begin = boot_time();
        server_.kill();
        if (const auto file = append_only_file();
            file && fault.size < std::filesystem::file_size(*file))
            std::filesystem::resize_file(*file, fault.size);
        server_.start();
        break;
    case fault_kind::stop_server: server_.resume(); break;
    case fault_kind::sleep_server: fault.connection->receive(); break;
    case fault_kind::slow_script:
        done({"SCRIPT", "KILL"});
        fault.connection->receive();
        break;
    case fault_kind::out_of_memory: done({"CONFIG", "SET", "maxmemory", "0"}); break;
    case fault_kind::stop_client: crew_.resume(place); break;
    case fault_kind::kill_client: crew_.start(place); break;
    case fault_kind::refuse_connections: crew_.proxy(place).accept(); break;
    case fault_kind::latency: crew_.proxy(place).delay({}); break;
    default: crew_.proxy(place).forward(); break;
    }
    log_[fault.logged].end = boot_time();
}

void nemesis::done(const std::vector<std::string>& command)
{
    server_.connect().done(command);
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
