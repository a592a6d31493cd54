#include "sim/session/session_faults.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>

namespace leasehold::test::sessions {

using namespace std::chrono_literals;

void faults::schedule()
{
    scene& s = scene_;
    const auto what = static_cast<kind>(s.random.below(static_cast<std::uint64_t>(kind::count_)));
    const auto client = s.random.below(s.current.size());
    const auto how_long = s.one_of(std::array{20ms, 300ms, 1500ms, 4000ms, 9000ms});
    s.world->at(s.began + s.ms(0, 20'000),
                [this, what, client, how_long] { apply(what, client, how_long); });
}

void faults::trouble(clock::time_point& until, clock::duration how_long)
{
    until = std::max(until, scene_.now() + how_long + to_notice + scene_.service->lifetime());
}

void faults::apply(kind what, std::uint64_t client, milliseconds how_long)
{
    process& p = *scene_.current[client];
    if (p.dead || p.closed)
        return;
    scene_.world->note("fault " + std::to_string(static_cast<int>(what)) + " at " + p.host->name() +
                       " for " + std::to_string(how_long.count()) + " ms");
    const auto until = scene_.now() + how_long;
    switch (what) {
    case kind::cut:
    case kind::cut_to_service:
    case kind::cut_from_service:
    case kind::slow: return cut(p, what, until);
    case kind::reset: p.link->reset(); return trouble(p.troubled_until, 0ms);
    case kind::service_stalled:
        scene_.service->stalled_until = until;
        return trouble(scene_.troubled_until, how_long);
    case kind::pause: return stop(p, &testing::host::pause, how_long);
    case kind::suspend: return stop(p, &testing::host::suspend, how_long);
    case kind::drift: return p.host->drift(scene_.random.between(-4000, 4000));
    case kind::crash: return crash(p, client, how_long);
    case kind::shutdown: return shut_down(p, client);
    case kind::removal: return remove_holder(client % scene_.names);
    case kind::count_: break;
    }
}

void faults::cut(process& p, kind what, clock::time_point until)
{
    if (what == kind::cut || what == kind::cut_to_service)
        p.way->no_requests_until = until;
    if (what == kind::cut || what == kind::cut_from_service)
        p.way->no_replies_until = until;
    if (what == kind::slow)
        p.way->slow_until = until;
    trouble(p.troubled_until, until - scene_.now());
}

/// Its timers may be late, up to a second after a suspension.
void faults::stop(process& p, void (testing::host::*how)(clock::duration), milliseconds how_long)
{
    (p.host->*how)(how_long);
    p.late_until = std::max(p.late_until, scene_.now() + how_long) + 1s + at_once;
    trouble(p.troubled_until, how_long);
}

void faults::crash(process& p, std::uint64_t client, milliseconds how_long)
{
    p.dead = true;
    p.host->crash();
    trouble(scene_.troubled_until, scene_.service->lifetime());
    scene_.world->after(how_long, [this, client] { scene_.start(text_of('r', client), client); });
}

void faults::shut_down(process& p, std::uint64_t client)
{
    p.closed = true;
    trouble(p.troubled_until, 0ms);
    boost::asio::post(p.host->get_executor(), [this, &p, client] {
        p.locks->async_shutdown([this, client](error_code) {
            scene_.world->after(200ms,
                                [this, client] { scene_.start(text_of('r', client), client); });
        });
    });
}

void faults::remove_holder(std::uint64_t name)
{
    const std::uint64_t revision = scene_.service->remove_holder(text_of('n', name));
    if (revision == 0)
        return;
    ++scene_.counted.removals;
    scene_.removed.emplace(revision, scene_.now());
}

} // namespace leasehold::test::sessions
