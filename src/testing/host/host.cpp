#include <leasehold/testing/host.hpp>

#include <leasehold/detail/access.hpp>
#include <leasehold/testing/cluster.hpp>

#include "base/argument_error.hpp"
#include "redis/make_store.hpp"
#include "testing/host/simulated_environment.hpp"
#include "testing/server/server_state.hpp"
#include "testing/time/host_state.hpp"
#include "testing/time/host_time.hpp"

#include <boost/asio/strand.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace leasehold::testing {
namespace impl {

void post(host& on, std::unique_ptr<task> work)
{
    host_state& state = on.state();
    state.time.post(state, std::move(work));
}

bool runs_here(const host& on) noexcept
{
    return on.state().time.running() == &on.state();
}

asio::execution_context& context_of(host& on) noexcept
{
    return on;
}

} // namespace impl

host::host(std::unique_ptr<impl::host_state> state) : state_(std::move(state)) {}

host::~host()
{
    end();
    destroy();
}

void host::end() noexcept
{
    if (std::exchange(state_->crashed, true))
        return;
    shutdown();
    state_->drop_waits();
    state_->time.drop(*state_);
}

const std::string& host::name() const noexcept
{
    return state_->name;
}

client host::make_client(server& to, std::shared_ptr<observer> watching)
{
    return make_client(to, connecting(), std::move(watching));
}

client host::make_client(server& to, const connecting& how, std::shared_ptr<observer> watching)
{
    to.state().layout = how.limits.layout;
    const auto from = impl::simulated_environment(*state_, {&to.state()});
    std::shared_ptr<store> store;
    if (how.shared) {
        // The connection of an application is not on the client's strand.
        const asio::any_io_executor elsewhere = asio::make_strand(get_executor());
        store = redis_store::make_store(
            impl::make_application_connection(*state_, to.state(), elsewhere, how.limits),
            elsewhere, how.limits, how.wakeups, from);
    }
    else {
        store = redis_store::make_store(how.limits, from);
    }
    return make_client(std::move(store), how, std::move(watching));
}

client host::make_client(cluster& where, const connecting& how, std::shared_ptr<observer> watching)
{
    redis_config limits = how.limits;
    limits.kind = redis_config::deployment::cluster;
    limits.addresses.clear();
    std::vector<impl::server_state*> all;
    for (server* const each : where.nodes()) {
        each->state().layout = limits.layout;
        all.push_back(&each->state());
        limits.addresses.push_back({each->state().name, static_cast<std::uint16_t>(all.size())});
    }
    return make_client(
        redis_store::make_store(limits, impl::simulated_environment(*state_, std::move(all))), how,
        std::move(watching));
}

client host::make_client(std::span<server* const> members, const connecting& how,
                         std::shared_ptr<observer> watching)
{
    redis_config limits = how.limits;
    limits.kind = redis_config::deployment::quorum;
    limits.addresses.clear();
    std::vector<impl::server_state*> all;
    for (server* const each : members) {
        all.push_back(&each->state());
        limits.addresses.push_back({each->state().name, static_cast<std::uint16_t>(all.size())});
    }
    return make_client(
        redis_store::make_store(limits, impl::simulated_environment(*state_, std::move(all))), how,
        std::move(watching));
}

client host::make_client(std::shared_ptr<store> store, const connecting& how,
                         std::shared_ptr<observer> watching)
{
    if (!how.limits.prefix.empty())
        leasehold::detail::throw_argument_error(errc::invalid_option, "prefix",
                                                '\'' + how.limits.prefix + '\'',
                                                "empty in a simulation");
    const auto seed = impl::mix(state_->random.next() + state_->clients++);
    return leasehold::detail::access::make_client(leasehold::detail::make_client_state(
        get_executor(), store, std::move(watching),
        std::make_unique<impl::host_time>(*state_, seed), how.acquires));
}

clock::time_point host::now() const noexcept
{
    return state_->lease_clock->now();
}

std::chrono::system_clock::time_point host::wall_clock() const noexcept
{
    constexpr std::chrono::seconds first(1'700'000'000);
    const auto shown = state_->time.now().time_since_epoch() + state_->wall_ahead + first;
    return std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(shown));
}

void host::on_step(std::function<void(step)> f)
{
    state_->on_step = std::move(f);
}

void host::pause(duration how_long)
{
    state_->pause(how_long, false);
}

void host::suspend(duration how_long)
{
    state_->pause(how_long, true);
}

void host::crash()
{
    const auto die = [this] {
        if (!state_->crashed)
            state_->line("CRASHES");
        end();
    };
    // Never while code of the host runs.
    if (state_->time.running() == state_.get())
        state_->time.at(state_->time.now(), die);
    else
        die();
}

void host::drift(std::int64_t parts_per_million)
{
    state_->line("CLOCK DRIFTS by " + std::to_string(parts_per_million) + " ppm");
    state_->drift(parts_per_million);
}

void host::step_wall_clock(duration by) noexcept
{
    state_->line("WALL CLOCK STEPS");
    state_->wall_ahead += by;
}

bool host::is_paused() const noexcept
{
    return state_->paused;
}

bool host::is_crashed() const noexcept
{
    return state_->crashed;
}

void host::network(const conditions& now) noexcept
{
    state_->messages = now;
    for (impl::host_state::way& each : state_->ways)
        each.messages.reset();
}

const conditions& host::network() const noexcept
{
    return state_->messages;
}

void host::cut_off(direction way, duration how_long)
{
    state_->cut_off(way, how_long);
}

void host::cut_off(const server& to, direction which, duration how_long)
{
    state_->line("CUT OFF from " + to.state().name);
    state_->cut_off(to.state(), which, how_long);
}

void host::network(const server& to, const conditions& now)
{
    state_->way_to(to.state()).messages = now;
}

void host::reset_connections(const server& to)
{
    state_->line("connections to " + to.state().name + " RESET");
    for (const auto& each : state_->connections)
        if (const auto connection = each.lock(); connection && connection->leads_to(to.state()))
            connection->reset();
}

void host::fail_sending(duration how_long)
{
    state_->line("SENDS NOTHING");
    state_->no_sending_until = std::max(state_->no_sending_until, state_->time.now() + how_long);
}

const mishaps& host::mishaps() const noexcept
{
    return state_->befallen;
}

void host::reset_connections()
{
    state_->line("connections RESET");
    for (const auto& each : state_->connections)
        if (const auto connection = each.lock())
            connection->reset();
}

void host::lose_wakeups(duration how_long)
{
    state_->line("HINTS LOST");
    state_->no_wakeups_until = std::max(state_->no_wakeups_until, state_->time.now() + how_long);
}

void host::false_wakeup(std::string_view name)
{
    for (const auto& each : state_->connections)
        if (const auto connection = each.lock())
            connection->inject(name);
}

} // namespace leasehold::testing
