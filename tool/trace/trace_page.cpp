#include "trace_page.hpp"

#include "trace_text.hpp"
#include "values.hpp"

#include "base/process_text.hpp"

#include "report/page.hpp"

#include <algorithm>

namespace leasehold::tool {
namespace {

using page_kind = trace_event::kind;
using report::look;

std::string title_of(const std::vector<std::string>& names)
{
    std::string title = "Trace of";
    for (const std::string& each : names)
        title.append(each == names.front() ? " " : ", ").append(detail::printable(each));
    return title;
}

std::string bound_label(const lock_state& lock)
{
    return lock.fence_at_most ? "fence <= " + std::to_string(*lock.fence_at_most) : std::string();
}

/// The time of an event, as far as it is known.
std::string text_of(const trace_event& event)
{
    std::string text = stamp_text(event.at) + " " + words_of(event);
    if (event.after)
        text.append("\nafter ").append(stamp_text(*event.after));
    return text;
}

look look_of(page_kind what)
{
    switch (what) {
    case page_kind::silent:
    case page_kind::expired:
    case page_kind::gone:
    case page_kind::absent: return look::loss;
    default: return look::message;
    }
}

} // namespace

trace_page::trace_page(const std::vector<std::string>& names, const std::string& servers,
                       trace_event::duration every, trace_event::wall_time begin)
    : one_lock_(names.size() == 1), begin_(begin), page_(title_of(names))
{
    page_.fact("servers", servers);
    page_.fact("begin", stamp_text(begin));
    page_.fact("interval", to_text(every) + "; changes between two reads are not seen");
}

double trace_page::seconds(trace_event::wall_time at) const
{
    // The wall clock may step back.
    return std::max(std::chrono::duration<double>(at - begin_).count(), 0.0);
}

std::size_t trace_page::lane(const std::string& name, const std::string& of)
{
    return page_.lane(one_lock_ ? of : detail::printable(name) + " " + of);
}

std::size_t trace_page::lane(const trace_event& event, const std::string& client,
                             const client_info& info)
{
    if (client.empty())
        return lane(event.name, "(unknown)");
    std::string& process = clients_[client];
    if (process.empty())
        process = detail::process_text(info);
    return lane(event.name, client);
}

void trace_page::add(const trace_event& event)
{
    switch (event.what) {
    case page_kind::passed:
        end_hold(event, *event.before);
        hold(event);
        break;
    case page_kind::held:
    case page_kind::taken: hold(event); break;
    case page_kind::freed:
    case page_kind::expired:
    case page_kind::gone: end_hold(event, *event.lock); break;
    case page_kind::queued: queue(event); break;
    case page_kind::left: end_wait(event.name, event.waiter->owner, event); break;
    case page_kind::unreachable:
        outages_.insert_or_assign(event.name,
                                  page_.begin_bar(lane(event.name, "(server)"), seconds(event.at),
                                                  look::fault, "unreachable", text_of(event)));
        break;
    case page_kind::reachable:
        if (const auto found = outages_.find(event.name); found != outages_.end())
            page_.end_bar(found->second, seconds(event.at), text_of(event));
        break;
    case page_kind::free:
        page_.mark(lane(event.name, "(server)"), seconds(event.at), look::message, text_of(event));
        break;
    default:
        const std::string& client = event.lock ? event.lock->client : event.waiter->client;
        const client_info& info = event.lock ? event.lock->info : event.waiter->info;
        page_.mark(lane(event, client, info), seconds(event.at), look_of(event.what),
                   text_of(event));
    }
}

void trace_page::hold(const trace_event& event)
{
    const lock_state& lock = *event.lock;
    end_wait(event.name, lock.owner, event);
    const std::size_t number = page_.begin_bar(lane(event, lock.client, lock.info),
                                               seconds(event.at), look::lock, bound_label(lock),
                                               text_of(event) + "\nowner " + lock.owner);
    holds_.insert_or_assign(event.name, bar{number, lock.owner});
}

void trace_page::end_hold(const trace_event& event, const lock_state& ended)
{
    const auto found = holds_.find(event.name);
    if (found == holds_.end())
        return;
    page_.end_bar(found->second.number, seconds(event.at), text_of(event));
    page_.set_label(found->second.number, bound_label(ended));
    holds_.erase(found);
    if (look_of(event.what) == look::loss)
        page_.mark(lane(event, ended.client, ended.info), seconds(event.at), look::loss,
                   text_of(event));
}

void trace_page::queue(const trace_event& event)
{
    const lock_waiter& waiter = *event.waiter;
    waits_.insert_or_assign({event.name, waiter.owner},
                            page_.begin_bar(lane(event, waiter.client, waiter.info),
                                            seconds(event.at), look::waiting, "waits",
                                            text_of(event) + "\nowner " + waiter.owner));
}

void trace_page::end_wait(const std::string& name, const std::string& owner,
                          const trace_event& event)
{
    const auto found = waits_.find({name, owner});
    if (found == waits_.end())
        return;
    page_.end_bar(found->second, seconds(event.at), text_of(event));
    waits_.erase(found);
}

void trace_page::write(const std::string& file, trace_event::wall_time end)
{
    page_.fact("end", stamp_text(end));
    for (const auto& [client, process] : clients_) {
        if (!process.empty())
            page_.fact("client " + client, process);
    }
    page_.end_at(seconds(end));
    report::write_page_file(file, page_.to_json());
}

} // namespace leasehold::tool
