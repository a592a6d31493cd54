#include "trace_text.hpp"

#include "json.hpp"
#include "locks/lock_text.hpp"

#include "base/printable.hpp"
#include "base/process_text.hpp"

#include <cstdio>
#include <string_view>

namespace leasehold::tool {
namespace {

using detail::printable;
using event_kind = trace_event::kind;
using std::chrono::milliseconds;

/// "5e0f8c21 (restock on web-3, pid 4711)"
std::string client_text(const std::string& client, const client_info& info)
{
    std::string text = client.empty() ? "a client of another library" : client;
    if (const std::string process = process_text(info); !process.empty())
        text.append(" (").append(process).append(")");
    return text;
}

std::string client_text(const lock_state& lock)
{
    return client_text(lock.client, lock.info);
}

std::string for_text(std::string_view what, const std::optional<milliseconds>& span,
                     bool from_start)
{
    if (!span)
        return {};
    return std::string(", ")
        .append(what)
        .append(from_start ? " for at least " : " for ")
        .append(span_text(*span));
}

std::string bound_text(const lock_state& lock)
{
    return lock.fence_at_most ? ", fence at most " + std::to_string(*lock.fence_at_most)
                              : std::string();
}

std::string members_text(const lock_state& lock)
{
    return lock.of == 0 ? std::string()
                        : ", at " + std::to_string(lock.members) + " of " +
                              std::to_string(lock.of) + " members";
}

std::string left_text(const lock_state& lock)
{
    return ", " + (lock.left ? life_text(lock.left) + " left" : life_text(lock.left));
}

void add_span(json_writer& to, std::string_view key, const std::optional<milliseconds>& span)
{
    if (span)
        to.key(key).number(static_cast<std::int64_t>(span->count()));
}

} // namespace

std::string stamp_text(trace_event::wall_time at)
{
    char fraction[8];
    std::snprintf(fraction, sizeof fraction, ".%03dZ",
                  static_cast<int>((at.time_since_epoch() % 1'000).count()));
    return detail::time_text(at, "T", fraction);
}

std::string span_text(trace_event::duration span)
{
    return span < std::chrono::seconds(1) ? std::to_string(span.count()) + "ms" : life_text(span);
}

std::string words_of(const trace_event& event)
{
    std::string text = std::string(name_of(event.what)) + " " + printable(event.name);
    const auto held = [&] { return for_text("held", event.held, event.from_start); };
    switch (event.what) {
    case event_kind::free:
    case event_kind::reachable: return text;
    case event_kind::unreachable: return text + ": " + printable(event.reason);
    case event_kind::held:
    case event_kind::taken:
        return text + " by " + client_text(*event.lock) + members_text(*event.lock) +
               left_text(*event.lock) + for_text("waited", event.waited, false);
    case event_kind::passed:
        return text + " from " + client_text(event.before->client, {}) + held() +
               bound_text(*event.before) + ", to " + client_text(*event.lock) +
               for_text("waited", event.waited, false);
    case event_kind::renewed:
        return text + " by " + client_text(*event.lock) + left_text(*event.lock) +
               bound_text(*event.lock);
    case event_kind::reentered:
        return text + " by " + client_text(*event.lock) + ", held " +
               (event.lock->holds == 1 ? "once" : std::to_string(event.lock->holds) + " times");
    case event_kind::members:
        return text + " by " + client_text(*event.lock) + members_text(*event.lock);
    case event_kind::silent:
        return text + " by " + client_text(*event.lock) + ", " + silent_text(*event.lock);
    case event_kind::heard: return text + " by " + client_text(*event.lock);
    case event_kind::freed:
    case event_kind::expired:
    case event_kind::gone:
        return text + " by " + client_text(*event.lock) + held() + members_text(*event.lock) +
               bound_text(*event.lock);
    case event_kind::queued:
    case event_kind::absent:
    case event_kind::present:
        return text + " by " + client_text(event.waiter->client, event.waiter->info) +
               ", position " + std::to_string(event.position);
    case event_kind::left:
        return text + " by " + client_text(event.waiter->client, event.waiter->info) +
               for_text("waited", event.waited, event.from_start);
    case event_kind::waiters: return text + ": " + std::to_string(event.lock->waiters);
    }
    return text;
}

std::string line_of(const trace_event& event, trace_event::duration every)
{
    std::string text = stamp_text(event.at) + " " + words_of(event);
    const bool of_store = event.what == event_kind::unreachable ||
                          event.what == event_kind::reachable;
    // A read itself also takes time.
    if (event.after && !of_store && event.at - *event.after > 2 * every + milliseconds(100))
        text.append("; after ").append(stamp_text(*event.after));
    return text;
}

std::string json_of(const trace_event& event)
{
    json_writer out;
    out.begin_object().key("time").text(stamp_text(event.at));
    out.key("after");
    if (event.after)
        out.text(stamp_text(*event.after));
    else
        out.null();
    out.key("event").text(name_of(event.what)).key("name").text(event.name);
    if (event.lock)
        write_json(out.key("lock"), *event.lock);
    if (event.before)
        write_json(out.key("before"), *event.before);
    if (event.waiter) {
        write_json(out.key("waiter"), *event.waiter);
        if (event.position > 0)
            out.key("position").number(static_cast<std::int64_t>(event.position));
    }
    add_span(out, "held_ms", event.held);
    add_span(out, "waited_ms", event.waited);
    if (event.held || event.waited)
        out.key("from_start").boolean(event.from_start);
    if (!event.reason.empty())
        out.key("reason").text(event.reason);
    return out.end_object().str();
}

} // namespace leasehold::tool
