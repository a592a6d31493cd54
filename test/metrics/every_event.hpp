#ifndef LEASEHOLD_TEST_METRICS_EVERY_EVENT_HPP
#define LEASEHOLD_TEST_METRICS_EVERY_EVENT_HPP

#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>
#include <leasehold/observer.hpp>

#include <chrono>

namespace leasehold::test {

/// Sends an observer each possible event, in the order of one lock after the other.
inline void notify_every_event(observer& to)
{
    using namespace std::chrono_literals;
    diagnostics details;
    details.holder = "0a1b2c3d";
    to.connected();
    to.began("order:1");
    to.answered(store_request::acquire, 2ms, {});
    to.waiting("order:1", 10s);
    to.long_wait("order:1", errc::held, 1s, 9s, details);
    to.long_wait_ended("order:1", errc::timed_out, 2s);
    to.suspect_expiry("order:1", 10s);
    to.contended("order:1", "0a1b2c3d", 120ms);
    to.acquired("order:1", 1, 120ms, false);
    to.renewed("order:1", 1, 3ms, 19s);
    to.answered(store_request::renew, 3ms, {});
    to.renewal_late("order:1", 1, errc::store_refused, 5s);
    to.answered(store_request::renew, 3ms, errc::store_refused);
    to.began("order:2");
    to.acquired("order:2", 2, 7ms, true);
    to.unused("order:2", 2, 40us);
    to.released("order:2", 2, 40ms);
    to.answered(store_request::release, 1ms, {});
    to.granted_next("order:2");
    to.began("a \"quoted\" \\ name\n");
    to.not_acquired("a \"quoted\" \\ name\n", errc::timed_out, 1s, details);
    to.store_error(errc::store_refused, details);
    to.lost("order:1", 1, 3s, errc::expired, details);
    to.disconnected(errc::store_unavailable);
}

} // namespace leasehold::test

#endif
