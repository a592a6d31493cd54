#include "sim/session/session_scene.hpp"

#include "core/client_state.hpp"
#include "testing/time/host_time.hpp"

#include <leasehold/detail/access.hpp>

#include <array>
#include <utility>

namespace leasehold::test::sessions {

using namespace std::chrono_literals;

std::string text_of(char kind, std::uint64_t number)
{
    std::string text(1, kind);
    text += std::to_string(number);
    return text;
}

scene::scene(std::uint64_t seed, link_error of_link, tally& counts,
             const std::function<void(std::string_view)>& trace)
    : random(seed),
      error(of_link),
      counted(counts),
      world(std::make_unique<testing::world>(seed)),
      began(world->now()),
      traced_(static_cast<bool>(trace))
{
    world->on_trace(trace);
    service.emplace(*world, one_of(std::array{1000ms, 2000ms, 4000ms, 10'000ms}));
    const auto clients = 2 + random.below(3);
    names = 1 + random.below(2);
    for (std::uint64_t i = 0; i < clients; ++i)
        start(text_of('h', i), i);
}

scene::~scene()
{
    for (actor& a : actors) {
        a.timer.reset();
        a.held = lease();
        a.inner = lease();
    }
    for (process& p : processes) {
        p.locks.reset();
        p.link.reset();
    }
    world.reset();
    actors.clear(); // a signal keeps the operations that it could cancel
}

void scene::wrong(const std::string& promise)
{
    if (!first_wrong.empty())
        return;
    first_wrong = promise;
    if (world)
        world->note("WRONG " + promise);
}

void scene::note(const actor& a, const char* what, error_code how)
{
    if (traced_)
        world->note(a.at->host->name() + " [" + std::to_string(a.number) + "] " +
                    text_of('n', a.name) + ' ' + what + ": " + how.message());
}

void scene::start(std::string host, std::uint64_t number)
{
    process& p = processes.emplace_back();
    p.host = &world->make_host(std::move(host));
    while (paths.size() <= number)
        paths.emplace_back(random.next());
    p.way = &paths[number];
    p.link = std::make_shared<session_link>(*world, *p.host, *service, *p.way, error);
    p.locks.reset(
        new client(leasehold::detail::access::make_client(leasehold::detail::make_client_state(
            p.host->get_executor(), p.link, nullptr,
            std::make_unique<testing::impl::host_time>(p.host->state(), random.next()), 0))));
    p.locks->async_run([](error_code) {});
    if (current.size() <= number)
        current.resize(number + 1);
    if (const process* const former = std::exchange(current[number], &p))
        p.troubled_until = former->troubled_until; // of the path, which is the same
}

const clock::time_point* scene::removed_at(const actor& a) const
{
    const auto found = removed.find(a.fence / lock_service::fences_of_a_place);
    return found == removed.end() ? nullptr : &found->second;
}

} // namespace leasehold::test::sessions
