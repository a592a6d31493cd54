#include <leasehold/extras/metrics.hpp>

#include "base/argument_error.hpp"
#include "extras/metrics/instruments.hpp"
#include "extras/metrics/label_table.hpp"
#include "extras/metrics/label_value.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <initializer_list>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold {
namespace detail {

/// The counts for each value of the label `lock`.
struct lock_series
{
    explicit lock_series(const metrics_options& options)
        : wait(options.bounds),
          hold(options.bounds),
          slack(options.bounds),
          blocked(options.most_holders, [] { return std::make_unique<shared_counter>(); })
    {}

    histogram wait, hold, slack;
    gauge waiting, held;
    shared_counter contended, handoffs_local, handoffs_remote, renewals_late, suspect_expiries;
    reason_counter lost, not_acquired;
    label_table<shared_counter> blocked; ///< By holder; nanoseconds.
};

/// The counts for each kind of request.
struct request_series
{
    explicit request_series(const metrics_options& options) : latency(options.bounds) {}

    histogram latency;
    reason_counter failed;
};

} // namespace detail

namespace {

using detail::gauge;
using detail::histogram;
using detail::label_table;
using detail::reason_counter;
using detail::shared_counter;
using kind = metric_family::kind;
using detail::lock_series;
using detail::request_series;
using labels = std::vector<std::pair<std::string, std::string>>;

/// The holder of a lock that is handed off between leases of one client.
constexpr std::string_view this_client = "this_client";

constexpr std::array<std::string_view, 3> request_names = {"acquire", "renew", "release"};

metrics_options checked(metrics_options options)
{
    const auto in_range = [](std::size_t most) { return most >= 1 && most <= 10'000; };
    const auto& bounds = options.bounds;
    const bool rise = std::adjacent_find(bounds.begin(), bounds.end(), std::greater_equal<>()) ==
                      bounds.end();
    if (!options.label_of)
        detail::throw_argument_error(errc::invalid_option, "label_of", "empty", "a function");
    if (!in_range(options.most_locks))
        detail::throw_argument_error(errc::invalid_option, "most_locks",
                                     std::to_string(options.most_locks), "1 to 10,000");
    if (!in_range(options.most_holders))
        detail::throw_argument_error(errc::invalid_option, "most_holders",
                                     std::to_string(options.most_holders), "1 to 10,000");
    if (bounds.empty() || bounds.size() > 100 || bounds.front().count() <= 0 || !rise)
        detail::throw_argument_error(errc::invalid_option, "bounds",
                                     std::to_string(bounds.size()) + " of them",
                                     "1 to 100, above zero, each larger than the one before");
    return options;
}

} // namespace

std::string lock_family(std::string_view name)
{
    return std::string(name.substr(0, name.find_first_of(":/", 1)));
}

struct metrics::state
{
    explicit state(metrics_options given)
        : options(checked(std::move(given))),
          locks(options.most_locks, [this] { return std::make_unique<lock_series>(options); }),
          requests{request_series(options), request_series(options), request_series(options)}
    {}

    [[nodiscard]] lock_series& at(std::string_view name) noexcept
    {
        try {
            return locks.at(detail::label_value(options.label_of(name)));
        }
        catch (...) {
            return locks.at(locks.other);
        }
    }

    [[nodiscard]] static shared_counter& blocked_by(lock_series& lock,
                                                    std::string_view holder) noexcept
    {
        try {
            if (!holder.empty())
                return lock.blocked.at(detail::label_value(std::string(holder)));
        }
        catch (const std::bad_alloc&) {
        }
        return lock.blocked.at(lock.blocked.other);
    }

    const metrics_options options;
    label_table<lock_series> locks;
    std::array<request_series, request_names.size()> requests;
    shared_counter connects;
    reason_counter disconnects;
};

metrics::metrics(metrics_options options) : state_(std::make_unique<state>(std::move(options))) {}

metrics::~metrics() = default;

void metrics::began(std::string_view name) noexcept
{
    state_->at(name).waiting.up();
}

void metrics::acquired(std::string_view name, std::uint64_t, duration waited,
                       bool handed_off) noexcept
{
    lock_series& lock = state_->at(name);
    lock.waiting.down();
    lock.held.up();
    lock.wait.add(waited);
    if (!handed_off)
        return;
    lock.contended.add();
    lock.handoffs_local.add();
    lock.blocked.at(this_client).add(waited);
}

void metrics::not_acquired(std::string_view name, error_code why, duration waited,
                           const diagnostics& details) noexcept
{
    lock_series& lock = state_->at(name);
    lock.waiting.down();
    lock.not_acquired.add(why);
    if (!details.holder.empty())
        state_->blocked_by(lock, details.holder).add(waited);
}

void metrics::contended(std::string_view name, std::string_view holder, duration waited) noexcept
{
    lock_series& lock = state_->at(name);
    lock.contended.add();
    state_->blocked_by(lock, holder).add(waited);
}

void metrics::suspect_expiry(std::string_view name, std::chrono::milliseconds) noexcept
{
    state_->at(name).suspect_expiries.add();
}

void metrics::renewed(std::string_view name, std::uint64_t, duration, duration left) noexcept
{
    state_->at(name).slack.add(left);
}

void metrics::renewal_late(std::string_view name, std::uint64_t, error_code, duration) noexcept
{
    state_->at(name).renewals_late.add();
}

void metrics::lost(std::string_view name, std::uint64_t, duration held, error_code reason,
                   const diagnostics&) noexcept
{
    lock_series& lock = state_->at(name);
    lock.held.down();
    lock.hold.add(held);
    lock.lost.add(reason);
}

void metrics::released(std::string_view name, std::uint64_t, duration held) noexcept
{
    lock_series& lock = state_->at(name);
    lock.held.down();
    lock.hold.add(held);
}

void metrics::granted_next(std::string_view name) noexcept
{
    state_->at(name).handoffs_remote.add();
}

void metrics::answered(store_request request, duration took, error_code why) noexcept
{
    request_series& of = state_->requests[static_cast<std::size_t>(request)];
    if (why)
        of.failed.add(why);
    else
        of.latency.add(took);
}

void metrics::connected() noexcept
{
    state_->connects.add();
}

void metrics::disconnected(error_code why) noexcept
{
    state_->disconnects.add(why);
}

namespace {

/// The families, in the order of the page.
class page
{
public:
    metric_family& add(std::string_view name, kind type, std::string_view help,
                       std::string_view unit = "")
    {
        return families_.emplace_back(metric_family{.name = "leasehold_" + std::string(name),
                                                    .type = type,
                                                    .unit = std::string(unit),
                                                    .help = std::string(help)});
    }

    metric_family& add_seconds(std::string_view name, kind type, std::string_view help)
    {
        return add(std::string(name) + "_seconds", type, help, "seconds");
    }

    [[nodiscard]] std::vector<metric_family> take() { return std::move(families_); }

private:
    std::vector<metric_family> families_;
};

void put(metric_family& to, labels of, double value)
{
    to.points.push_back({.labels = std::move(of), .value = value});
}

void put(metric_family& to, labels of, const shared_counter& counted)
{
    put(to, std::move(of), static_cast<double>(counted.value()));
}

void put(metric_family& to, labels of, const histogram& counted)
{
    metric_family::point one{.labels = std::move(of)};
    counted.write(one);
    to.points.push_back(std::move(one));
}

void put(metric_family& to, std::string_view label, std::string_view value,
         const reason_counter& counted, std::initializer_list<errc> always)
{
    counted.each(always, [&](std::string_view reason, std::uint64_t count) {
        labels of;
        if (!label.empty())
            of.emplace_back(label, value);
        of.emplace_back("reason", reason);
        put(to, std::move(of), static_cast<double>(count));
    });
}

} // namespace

std::vector<metric_family> metrics::collect() const
{
    page all;
    const state& s = *state_;
    const auto each_lock = [&](metric_family& to, auto put_lock) {
        s.locks.each([&](std::string_view name, const lock_series& lock) {
            put_lock(to, std::string(name), lock);
        });
    };
    // For each lock, one number or histogram.
    const auto of_locks = [&](metric_family& to, auto member) {
        each_lock(to, [member](metric_family& in, const std::string& name, const auto& lock) {
            if constexpr (std::is_same_v<decltype(member), gauge lock_series::*>)
                put(in, {{"lock", name}}, static_cast<double>((lock.*member).value()));
            else
                put(in, {{"lock", name}}, lock.*member);
        });
    };
    const auto reasons_of_locks = [&](metric_family& to, reason_counter lock_series::* member,
                                      std::initializer_list<errc> always) {
        each_lock(to,
                  [member, always](metric_family& in, const std::string& name, const auto& lock) {
                      put(in, "lock", name, lock.*member, always);
                  });
    };

    of_locks(all.add("waiting", kind::gauge, "Operations that wait for a lock."),
             &lock_series::waiting);
    of_locks(all.add("held", kind::gauge, "Leases that are held."), &lock_series::held);
    of_locks(all.add_seconds("wait", kind::histogram, "From the call of an acquire to its lease."),
             &lock_series::wait);
    of_locks(all.add_seconds("hold", kind::histogram,
                             "From the grant of a lease to its release or loss."),
             &lock_series::hold);
    of_locks(all.add("contended", kind::counter,
                     "Leases that another owner, or another lease of this client, kept waiting."),
             &lock_series::contended);
    each_lock(all.add("handoffs", kind::counter,
                      "Releases that gave the lock to a waiter: of this client (local), or of "
                      "another (remote)."),
              [](metric_family& in, const std::string& name, const lock_series& lock) {
                  put(in, {{"lock", name}, {"to", "local"}}, lock.handoffs_local);
                  put(in, {{"lock", name}, {"to", "remote"}}, lock.handoffs_remote);
              });
    each_lock(all.add_seconds("blocked", kind::counter,
                              "Time that operations waited, by the client that held the lock when "
                              "it was last asked for."),
              [](metric_family& in, const std::string& name, const lock_series& lock) {
                  lock.blocked.each([&](std::string_view holder, const shared_counter& time) {
                      put(in, {{"lock", name}, {"holder", std::string(holder)}},
                          detail::in_seconds(time.value()));
                  });
              });
    reasons_of_locks(all.add("not_acquired", kind::counter,
                             "Operations that ended without a lease, by the error."),
                     &lock_series::not_acquired, {errc::timed_out});
    reasons_of_locks(all.add("lost", kind::counter,
                             "Leases that ended before they were released, by the error."),
                     &lock_series::lost,
                     {errc::lost, errc::expired, errc::hold_limit, errc::silent, errc::shut_down});
    of_locks(all.add_seconds("renewal_slack", kind::histogram,
                             "Time left of a lease when its renewal was confirmed."),
             &lock_series::slack);
    of_locks(all.add("renewals_late", kind::counter,
                     "Renewals that were not confirmed and are tried again."),
             &lock_series::renewals_late);
    of_locks(all.add("suspect_expiries", kind::counter,
                     "Times to live that did not fall: a clock may have stepped back."),
             &lock_series::suspect_expiries);

    metric_family& latency = all.add_seconds("store", kind::histogram,
                                             "From a request to the store to its answer.");
    for (std::size_t i = 0; i < request_names.size(); ++i)
        put(latency, {{"request", std::string(request_names[i])}}, s.requests[i].latency);
    metric_family& failed = all.add("store_failures", kind::counter,
                                    "Requests without an answer, or refused, by the error.");
    for (std::size_t i = 0; i < request_names.size(); ++i)
        put(failed, "request", request_names[i], s.requests[i].failed,
            {errc::store_unavailable, errc::outcome_unknown});
    put(all.add("connects", kind::counter, "Connections to the store that were made."), {},
        s.connects);
    put(all.add("disconnects", kind::counter,
                "Times that the store could not be reached, by the error."),
        "", "", s.disconnects, {errc::store_unavailable});
    return all.take();
}

std::string metrics::text() const
{
    std::string all;
    append_open_metrics(all, collect());
    all += "# EOF\n";
    return all;
}

} // namespace leasehold
