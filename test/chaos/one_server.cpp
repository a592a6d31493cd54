#include "chaos/one_server.hpp"

#include "chaos/boot_time.hpp"

#include <utility>

namespace leasehold::test::chaos {
namespace {

/// Servers that report version 7 or newer require a permission for DEBUG.
bool needs_permission_to_debug()
{
    static const bool needed = [] {
        redis_server asked;
        const std::string version = asked.connect().info("server")["redis_version"];
        return std::stoi(version) >= 7;
    }();
    return needed;
}

std::vector<std::string> options_for(persistence how)
{
    std::vector<std::string> options{"--maxmemory-policy", "noeviction", "--lua-time-limit", "20"};
    if (how != persistence::none)
        options.insert(options.end(),
                       {"--appendonly", "yes", "--auto-aof-rewrite-percentage", "0",
                        "--appendfsync", how == persistence::always ? "always" : "everysec"});
    if (needs_permission_to_debug())
        options.insert(options.end(), {"--enable-debug-command", "yes"});
    return options;
}

} // namespace

one_server::one_server(persistence how, std::vector<std::string> names)
    : persistence_(how), names_(std::move(names)), server_(options_for(how))
{}

client_way one_server::way()
{
    client_way made;
    made.url = "redis://127.0.0.1:" + std::to_string(made.add(server_.endpoint()));
    return made;
}

std::vector<fault_kind> one_server::faults()
{
    std::vector<fault_kind> all{
        fault_kind::kill_server,   fault_kind::stop_server,      fault_kind::slow_script,
        fault_kind::flush_scripts, fault_kind::flush_all,        fault_kind::delete_key,
        fault_kind::out_of_memory, fault_kind::kill_connections,
    };
    if (persistence_ == persistence::everysec)
        all.push_back(fault_kind::power_cut);
    if (!server_.connect().command({"DEBUG", "SLEEP", "0"}).is_error())
        all.push_back(fault_kind::sleep_server);
    return all;
}

void one_server::begin(const planned_fault& what, fault& noted)
{
    switch (what.kind) {
    case fault_kind::kill_server: return server_.kill();
    case fault_kind::power_cut:
        if (const auto file = append_only_file())
            size_ = std::filesystem::file_size(*file);
        return;
    case fault_kind::stop_server: return server_.pause();
    case fault_kind::sleep_server:
        return send(
            {"DEBUG", "SLEEP", std::to_string(std::chrono::duration<double>(what.length).count())});
    case fault_kind::slow_script: return send({"EVAL", "while true do end", "0"});
    case fault_kind::flush_scripts: return done({"SCRIPT", "FLUSH"});
    case fault_kind::flush_all: return done({"FLUSHALL"});
    case fault_kind::delete_key:
        noted.name = names_[what.detail % names_.size()];
        return done({"DEL", noted.name});
    case fault_kind::kill_connections:
        done({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
        return done({"CLIENT", "KILL", "TYPE", "pubsub"});
    case fault_kind::out_of_memory: return done({"CONFIG", "SET", "maxmemory", "1"});
    default: return;
    }
}

void one_server::end(const planned_fault& what, fault& noted)
{
    switch (what.kind) {
    case fault_kind::kill_server: return server_.start();
    case fault_kind::power_cut:
        // Until now the fault only waited for a lock that it could lose.
        noted.begin = boot_time();
        server_.kill();
        if (const auto file = append_only_file(); file && size_ < std::filesystem::file_size(*file))
            std::filesystem::resize_file(*file, size_);
        return server_.start();
    case fault_kind::stop_server: return server_.resume();
    case fault_kind::slow_script: done({"SCRIPT", "KILL"}); [[fallthrough]];
    case fault_kind::sleep_server: busy_->receive(); return busy_.reset();
    case fault_kind::out_of_memory: return done({"CONFIG", "SET", "maxmemory", "0"});
    default: return;
    }
}

std::vector<std::string> one_server::left_over()
{
    std::vector<std::string> all;
    resp_client look = server_.connect();
    add_left_over(look, all);
    return all;
}

void one_server::send(const std::vector<std::string>& command)
{
    busy_ = std::make_unique<resp_client>(server_.endpoint());
    busy_->send(command);
}

void one_server::done(const std::vector<std::string>& command)
{
    server_.connect().done(command);
}

std::optional<std::filesystem::path> one_server::append_only_file() const
{
    for (const auto& each : std::filesystem::recursive_directory_iterator(server_.directory())) {
        const std::string name = each.path().filename().string();
        if (name.ends_with(".incr.aof") || name == "appendonly.aof")
            return each.path();
    }
    return std::nullopt;
}

} // namespace leasehold::test::chaos
