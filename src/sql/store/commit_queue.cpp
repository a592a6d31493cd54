#include "sql/store/commit_queue.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

namespace leasehold::sql_store {
namespace {

constexpr std::size_t group_limit = 128;
constexpr unsigned attempts_limit = 5;

} // namespace

void commit_queue::open(const asio::any_io_executor& strand,
                        const std::shared_ptr<detail::context_poster>& poster,
                        store_listener& listener)
{
    poster_ = poster;
    listener_ = &listener;
    connection_->open(strand, *this);
}

void commit_queue::close() noexcept
{
    listener_ = nullptr;
    // A transaction that was sent completely may be executed.
    const session* const last = connection_->ready();
    const error_code sent = last != nullptr && last->sent_all() ? errc::outcome_unknown
                                                                : errc::store_unavailable;
    connection_->close();
    if (!poster_ || (group_.empty() && pending_.empty()))
        return;
    // Never inside the call.
    try {
        poster_->post([self = shared_from_this(), sent] {
            auto group = std::exchange(self->group_, {});
            for (request& each : group)
                complete(each, sent, nullptr);
            self->reject_waiting(errc::store_unavailable, nullptr);
        });
    }
    catch (const std::bad_alloc&) {
        drop(false); // their handlers may keep the client, which keeps this object
    }
}

// The destruction of a handler may call this object.
void commit_queue::drop(bool forked) noexcept
{
    listener_ = nullptr;
    connection_->drop(forked);
    const auto group = std::exchange(group_, {});
    const auto pending = std::exchange(pending_, {});
}

void commit_queue::add(request what)
{
    if (!ready()) {
        if (poster_)
            poster_->post([what = std::make_shared<request>(std::move(what)),
                           code = listener_ != nullptr ? outage_.code() : errc::store_unavailable,
                           details = outage_.details()] { complete(*what, code, details); });
        return;
    }
    pending_.push_back(std::move(what));
    if (!group_.empty() || flush_posted_)
        return;
    try {
        flush_posted_ = poster_->post([self = shared_from_this()] {
            self->flush_posted_ = false;
            self->flush();
        });
    }
    catch (const std::bad_alloc&) {
        pending_.pop_back();
        throw;
    }
}

void commit_queue::on_ready(const session_facts& known)
{
    const auto self = shared_from_this();
    time_.learn(known.server_us, clock::now());
    outage_.end();
    listener_->on_connected(0);
    if (listener_ != nullptr && on_serving)
        on_serving();
}

void commit_queue::flush()
{
    session* const to = connection_->ready();
    if (!group_.empty() || pending_.empty() || to == nullptr)
        return;
    take_group();
    answered_ = 0;
    failed_ = {};
    failed_at_ = group_.size();
    try {
        for (const request& each : group_)
            to->add(each.made);
    }
    catch (const std::bad_alloc&) {
        // Nothing of it can be executed without its end.
        trouble why;
        why.code = errc::store_unavailable;
        connection_->begin_again(server_index());
        return on_lost(why, false);
    }
    to->finish_batch();
}

/// The oldest requests that may share a transaction.
void commit_queue::take_group()
{
    const auto is_alone = [](const request& each) {
        return each.alone || each.made.what == procedure::renew;
    };
    auto last = pending_.begin() + 1;
    if (!is_alone(pending_.front())) {
        const auto most = pending_.begin() +
                          static_cast<std::ptrdiff_t>(std::min(pending_.size(), group_limit));
        last = std::find_if(last, most, is_alone);
    }
    group_.assign(std::make_move_iterator(pending_.begin()), std::make_move_iterator(last));
    pending_.erase(pending_.begin(), last);
    std::stable_sort(group_.begin(), group_.end(),
                     [](const request& a, const request& b) { return a.name < b.name; });
}

void commit_queue::on_reply(const rows& reply)
{
    if (answered_ < group_.size())
        answer(group_[answered_], reply);
    ++answered_;
}

void commit_queue::on_failure(const trouble& why)
{
    if (failed_.code)
        return;
    failed_ = why;
    failed_at_ = why.located ? std::min(answered_, group_.size()) : group_.size();
}

/// Keeps the reply until the transaction is committed.
void commit_queue::answer(request& what, const rows& from)
{
    const auto keep = [&](auto& to, auto read) {
        if (read) {
            to = std::move(*read);
            return;
        }
        if (failed_.code)
            return;
        failed_at_ = answered_;
        failed_.code = errc::not_supported;
        failed_.from_server = "the reply has another form; " + how_->how_to_install();
    };
    const auto keep_timed = [&](auto& to, auto read) {
        if (read)
            time_.learn(read->server_us, clock::now());
        keep(to, read ? std::optional(std::move(read->reply)) : std::nullopt);
    };
    if (auto* const acquire = std::get_if<waiting_acquire>(&what.waiting))
        keep_timed(acquire->reply, read_acquire(from, acquire->listening));
    else if (auto* const release = std::get_if<waiting_release>(&what.waiting))
        keep_timed(release->reply, read_release(from, release->listening));
    else if (auto* const renew = std::get_if<waiting_renew>(&what.waiting))
        keep(renew->reply, read_renew(from, renew->size));
    else if (auto* const other = std::get_if<waiting_other>(&what.waiting);
             other != nullptr && from.size() == 1 && from.columns() == 1 && !from.is_null(0, 0))
        other->value = std::string(from.bytes(0, 0));
}

/// The transaction was committed or rolled back.
void commit_queue::on_batch_end()
{
    if (group_.empty())
        return;
    const auto self = shared_from_this();
    auto group = std::exchange(group_, {});
    if (!failed_.code) {
        for (request& each : group)
            complete(each, {}, nullptr);
        return flush();
    }
    const trouble why = std::exchange(failed_, {});
    const bool conflict = why.why == cause::conflict;
    if (group.size() > 1) {
        // The first call that failed must not fail the others. After a conflict, each goes
        // alone.
        for (std::size_t i = 0; i < group.size(); ++i)
            group[i].alone = group[i].alone || conflict || i == failed_at_ ||
                             failed_at_ == group.size();
        put_back(std::move(group));
        return flush();
    }
    if (conflict && ++group.front().attempts < attempts_limit) {
        put_back(std::move(group));
        return flush();
    }
    fail(group.front(), why);
    if (why.why == cause::read_only || why.why == cause::outdated)
        server_failed(why);
    flush();
}

void commit_queue::put_back(std::vector<request> group)
{
    pending_.insert(pending_.begin(), std::make_move_iterator(group.begin()),
                    std::make_move_iterator(group.end()));
}

/// Completes a request that the server rejected.
void commit_queue::fail(request& what, const trouble& why)
{
    auto details = std::make_shared<diagnostics>();
    details->server = server();
    details->key = what.name;
    details->server_message = why.from_server;
    details->connection_error = why.from_here;
    error_code code = why.code;
    if (why.why == cause::outdated)
        code = errc::store_refused; // the next session prepares it again
    else if (why.why == cause::schema_missing)
        details->server_message.append("; ").append(how_->how_to_install());
    if (listener_ != nullptr && !std::holds_alternative<waiting_other>(what.waiting))
        listener_->on_error(0, code, *details);
    complete(what, code, details);
}

/// The session is of no use any more.
void commit_queue::server_failed(const trouble& why)
{
    if (listener_ == nullptr || !ready())
        return;
    if (why.why == cause::read_only)
        connection_->begin_again_elsewhere();
    else
        connection_->begin_again(server_index());
    trouble reason = why;
    reason.code = errc::store_refused;
    on_lost(reason, false);
}

void commit_queue::on_lost(const trouble& why, bool sent_all)
{
    const auto self = shared_from_this();
    // An error of the transaction came before: it was rolled back.
    const error_code unanswered = sent_all && !failed_.code ? errc::outcome_unknown
                                                            : errc::store_unavailable;
    diagnostics details;
    details.server = server();
    details.server_message = why.from_server;
    details.connection_error = why.from_here;
    auto group = std::exchange(group_, {});
    // The end of a session is no reason to give up, whatever the server says.
    const error_code reason = why.code == condition::bad_request ? errc::store_refused : why.code;
    on_unreachable(reason, details);
    for (request& each : group)
        complete(each, unanswered, outage_.details());
    reject_waiting(errc::store_unavailable, outage_.details());
}

void commit_queue::on_unreachable(error_code why, const diagnostics& details)
{
    const auto self = shared_from_this();
    outage_.report(why, details, listener_);
}

void commit_queue::reject_waiting(error_code code,
                                  const std::shared_ptr<const diagnostics>& details)
{
    auto pending = std::exchange(pending_, {});
    for (request& each : pending)
        complete(each, code, details);
}

void commit_queue::complete(request& what, error_code code,
                            const std::shared_ptr<const diagnostics>& details)
{
    const auto finish = [&](auto& waiting) {
        auto reply = code ? decltype(waiting.reply)() : std::move(waiting.reply);
        if (code)
            reply.details = details;
        std::move(waiting.handler)(code, std::move(reply));
    };
    if (auto* const acquire = std::get_if<waiting_acquire>(&what.waiting))
        finish(*acquire);
    else if (auto* const release = std::get_if<waiting_release>(&what.waiting))
        finish(*release);
    else if (auto* const renew = std::get_if<waiting_renew>(&what.waiting))
        finish(*renew);
    else if (auto* const other = std::get_if<waiting_other>(&what.waiting))
        other->handler(code ? std::nullopt : std::move(other->value));
}

} // namespace leasehold::sql_store
