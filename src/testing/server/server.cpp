#include <leasehold/testing/server.hpp>

#include "testing/server/server_state.hpp"

#include <string>
#include <utility>

namespace leasehold::testing {

server::server(std::unique_ptr<impl::server_state> state) noexcept : state_(std::move(state)) {}

server::~server() = default;

std::size_t server::restart(data after, duration down)
{
    std::size_t gone = 0;
    state_->line(after == data::kept   ? "RESTARTS with its data"
                 : after == data::lost ? "RESTARTS EMPTY"
                                       : "RESTARTS without the last second");
    if (after == data::lost)
        gone = state_->flush_all();
    else if (after == data::last_second_lost)
        gone = state_->lose(std::chrono::seconds(1));
    state_->go_down(down);
    if (state_->cluster != nullptr)
        state_->cluster->restarted();
    return gone;
}

std::size_t server::fail_over(duration lag, duration down)
{
    state_->line("FAILS OVER, without the last " +
                 std::to_string(lag / std::chrono::milliseconds(1)) + " ms");
    const std::size_t gone = state_->lose(lag);
    state_->go_down(down);
    return gone;
}

void server::replicas(std::uint32_t count) noexcept
{
    state_->replicas = count;
}

std::size_t server::flush_all()
{
    state_->line("FLUSHALL");
    return state_->flush_all();
}

void server::flush_scripts(duration how_long)
{
    state_->line("SCRIPT FLUSH");
    state_->forget_scripts(how_long);
}

bool server::erase(std::string_view name)
{
    state_->line("DEL " + std::string(name));
    return state_->erase(name);
}

bool server::overwrite(std::string_view name)
{
    state_->line("SET " + std::string(name));
    return state_->overwrite(name);
}

bool server::seize(std::string_view name, milliseconds how_long)
{
    state_->line("SEIZED by an external client: " + std::string(name));
    return state_->seize(name, how_long);
}

std::string server::acquire_externally(std::string_view name, milliseconds lease)
{
    return state_->acquire_externally(name, lease);
}

bool server::release_externally(std::string_view name, std::string_view value)
{
    return state_->release_externally(name, value);
}

void server::stall(duration how_long)
{
    state_->line("STALLS for " + std::to_string(how_long / std::chrono::milliseconds(1)) + " ms");
    state_->stall(how_long);
}

void server::slow(duration each)
{
    state_->line(each == duration::zero() ? "fast again" : "SLOW");
    state_->speed(each);
}

void server::refuse(duration how_long, trouble why)
{
    state_->line("REFUSES everything for " +
                 std::to_string(how_long / std::chrono::milliseconds(1)) + " ms");
    state_->refuse(why, how_long);
}

void server::deny(duration how_long)
{
    state_->line("DENIES everything for " +
                 std::to_string(how_long / std::chrono::milliseconds(1)) + " ms");
    state_->refuse(trouble::no_permission, how_long);
}

void server::fail_renewals(std::string_view name, duration how_long)
{
    state_->line("RENEWALS of " + std::string(name) + " FAIL");
    state_->fail_renewals(name, how_long);
}

void server::forbid(std::string_view command)
{
    state_->line("FORBIDS " + std::string(command));
    state_->redis.denied.emplace_back(command);
}

void server::permit(std::string_view command)
{
    state_->line("permits " + std::string(command));
    std::erase(state_->redis.denied, command);
}

void server::imitate(product what) noexcept
{
    state_->redis.product = what;
}

void server::cluster_mode(bool on) noexcept
{
    state_->redis.cluster = on;
}

void server::step_clock(duration by)
{
    state_->line("CLOCK STEPS by " + std::to_string(by / std::chrono::milliseconds(1)) + " ms");
    state_->clock_of_it.step(by);
}

void server::drift(std::int64_t parts_per_million)
{
    state_->line("CLOCK DRIFTS by " + std::to_string(parts_per_million) + " ppm");
    state_->clock_of_it.drift(parts_per_million);
}

bool server::is_member() const
{
    return state_->is_member();
}

bool server::first_is_in(std::string_view name) const
{
    return state_->first_is_in(name);
}

std::string server::holder(std::string_view name) const
{
    return state_->holder(name);
}

std::size_t server::locks() const
{
    return state_->locks();
}

std::size_t server::queue_length(std::string_view name) const
{
    return state_->queue_of(name).size();
}

std::chrono::microseconds server::time() const noexcept
{
    return std::chrono::microseconds(state_->time_us());
}

std::size_t server::watches() const noexcept
{
    return state_->subscriptions();
}

std::uint64_t server::commands() const noexcept
{
    return state_->commands;
}

void server::on_grant(std::function<void(const grant&)> handler)
{
    state_->on_grant = std::move(handler);
}

void server::on_free(std::function<void(std::string_view name)> handler)
{
    state_->on_free = std::move(handler);
}

void server::on_read_only(std::function<void(std::string_view name)> handler)
{
    state_->on_read_only = std::move(handler);
}

void server::on_orphaned(std::function<void(std::string_view name, std::string_view owner)> handler)
{
    state_->on_orphaned = std::move(handler);
}

void server::on_unnotified_grant(
    std::function<void(std::string_view name, std::string_view owner)> handler)
{
    state_->on_unnotified_grant = std::move(handler);
}

void server::on_overtaken(
    std::function<void(std::string_view name, std::string_view owner, bool unfair)> handler)
{
    state_->on_overtaken = std::move(handler);
}

} // namespace leasehold::testing
