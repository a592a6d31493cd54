#include "sim/processes.hpp"

#include <leasehold/detail/access.hpp>
#include <leasehold/observer.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace leasehold::test::sim {

using namespace std::chrono_literals;
using testing::step;

namespace {

class error_listener final : public observer
{
public:
    error_listener(checks& judge, process& of) noexcept : checks_(judge), process_(of) {}

    void store_error(error_code, const diagnostics& details) noexcept override
    {
        checks_.told_error(process_, details);
    }

private:
    checks& checks_;
    process& process_;
};

} // namespace

void processes::start_all()
{
    for (std::size_t i = 0; i < trial_.scenario.clients; ++i) {
        std::string name = "h";
        name += std::to_string(i);
        trial_.clients.push_back(&start(i, trial_.world.make_host(std::move(name))));
    }
}

void processes::restart(std::size_t client, testing::host& on)
{
    trial_.clients[client] = &start(client, on);
}

process& processes::start(std::size_t client, testing::host& on)
{
    process& p = trial_.processes.emplace_back();
    p.client = client;
    p.host = &on;
    testing::connecting how = trial_.scenario.connections[client];
    how.limits.layout = trial_.scenario.layout;
    const auto told = std::make_shared<error_listener>(checks_, p);
    if (trial_.scenario.is_quorum()) {
        how.limits.quorum = static_cast<std::uint32_t>(trial_.scenario.grants);
        p.locks.reset(new leasehold::client(on.make_client(trial_.servers, how, told)));
    }
    else if (trial_.cluster != nullptr) {
        p.locks.reset(new leasehold::client(on.make_client(*trial_.cluster, how, told)));
    }
    else {
        p.locks.reset(new leasehold::client(on.make_client(trial_.server, how, told)));
    }
    p.core = leasehold::detail::access::state_of(*p.locks);
    on.on_step([this, &p](step done) {
        follow(p, done);
        on_step(p, done);
    });
    p.locks->async_run([this, &p](error_code) {
        if (std::exchange(p.run_ended, true))
            trial_.wrong("handler called twice: async_run");
    });
    on_start(p);
    return p;
}

void processes::follow(process& p, step done) noexcept
{
    const auto i = static_cast<std::size_t>(done);
    if (i < 9) {
        int (&counter)[3] = i % 3 == 0 ? p.sent : i % 3 == 1 ? p.ran : p.answered;
        ++counter[i / 3];
        p.served += i % 3 == 1 ? 1 : 0;
    }
    else {
        for (std::size_t k = 0; k < 3; ++k)
            p.ran[k] = p.answered[k] = p.sent[k];
    }
}

void processes::close(process& p, bool again)
{
    p.closing = true;
    trial_.note(p, "shuts down");
    on_close(p);
    const auto began = trial_.now();
    const auto troubled = trial_.any_trouble();
    p.locks->async_shutdown([this, &p, again, began, troubled](error_code failed) {
        if (std::exchange(p.closed, true))
            trial_.wrong("handler called twice: async_shutdown");
        trial_.note(p, "is shut down: " + (failed ? failed.message() : std::string("done")));
        trial_.gave_up = trial_.gave_up || failed;
        checks_.shut_down(p, failed, began, troubled);
        if (!again || p.dead)
            return;
        trial_.world.after(200ms, [this, &p] {
            if (!p.dead && trial_.clients[p.client] == &p)
                restart(p.client, *p.host);
        });
    });
}

bool processes::close_all()
{
    for (process& p : trial_.processes)
        if (!p.dead && !p.closing)
            close(p, false);
    const auto all_ended = [this] {
        return std::all_of(trial_.processes.begin(), trial_.processes.end(),
                           [](const process& p) { return p.dead || (p.closed && p.run_ended); });
    };
    return trial_.world.run_until(all_ended, 7s);
}

} // namespace leasehold::test::sim
