#ifndef LEASEHOLD_TEST_METRICS_EVERY_EVENT_HPP
#define LEASEHOLD_TEST_METRICS_EVERY_EVENT_HPP

#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>
#include <leasehold/observer.hpp>

#include <chrono>

namespace leasehold::test {

/// Sends an observer each possible event, in the order of one lock after the other.
inline void tell_every_event(observer& told)
{
    using namespace std::chrono_literals;
    diagnostics details;
    details.holder = "0a1b2c3d";
    told.connected();
    told.began("order:1");
    told.answered(store_request::acquire, 2ms, {});
    told.waiting("order:1", 10s);
    told.suspect_expiry("order:1", 10s);
    told.contended("order:1", "0a1b2c3d", 120ms);
    told.acquired("order:1", 1, 120ms, false);
    told.renewed("order:1", 1, 3ms, 19s);
    told.answered(store_request::renew, 3ms, {});
    told.renewal_late("order:1", 1, errc::store_refused, 5s);
    told.answered(store_request::renew, 3ms, errc::store_refused);
    told.began("order:2");
    told.acquired("order:2", 2, 7ms, true);
    told.released("order:2", 2, 40ms);
    told.answered(store_request::release, 1ms, {});
    told.passed_on("order:2");
    told.began("a \"quoted\" \\ name\n");
    told.not_acquired("a \"quoted\" \\ name\n", errc::timed_out, 1s, details);
    told.store_error(errc::store_refused, details);
    told.lost("order:1", 1, 3s, errc::expired, details);
    told.disconnected(errc::store_unavailable);
}

} // namespace leasehold::test

#endif
