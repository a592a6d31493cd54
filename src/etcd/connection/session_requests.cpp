#include "etcd/connection/session.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

// The requests of a session, one after the other.
namespace leasehold::etcd_store {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The server allows 128 operations in a transaction, with those of one nested transaction.
constexpr std::size_t most_in_batch = 100;
// It allows 1.5 MiB in a request, of which JSON needs more.
constexpr std::size_t most_bytes = 512 * 1024;

// Renewals in a TTL. A lease is shorter by the time between two of them.
constexpr int beats = 4;

constexpr const char* key_changed = "another program has changed the key of this client";

std::string confirmation_body(std::string_view key)
{
    return text_of(range_request{.prefix = key, .most = 1, .keys_only = true});
}

} // namespace

void session::begin(std::string key, std::string value, reply_handler handler)
{
    if (lease_id_ == 0) {
        key_ = std::move(key);
        value_ = std::move(value);
    }
    beginning_.push_back(std::move(handler));
    flush_soon();
}

void session::send(transaction what, reply_handler handler)
{
    waiting_.push_back({std::move(what), std::move(handler)});
    flush_soon();
}

void session::renew(reply_handler handler)
{
    to_renew_.push_back(std::move(handler));
    flush_soon();
}

void session::read(const range_request& what, range_handler handler)
{
    reading_.push_back({text_of(what), std::move(handler)});
    flush_soon();
}

// At the end of the turn, so that its requests go out together.
void session::flush_soon()
{
    if (busy_ || !strand_ || std::exchange(flush_posted_, true))
        return;
    asio::post(strand_, [self = shared_from_this()] {
        self->flush_posted_ = false;
        self->next();
    });
}

void session::next()
{
    if (!ready_ || busy_)
        return;
    if (!has_begun() && !(waiting_.empty() && to_renew_.empty()))
        return fail_all(errc::store_unavailable);
    if (has_begun() && (renewal_due_ || !to_renew_.empty()))
        keep_alive();
    else if (!has_begun() && !beginning_.empty())
        begin_now();
    else if (!beginning_.empty()) {
        for (const auto& each : std::exchange(beginning_, {}))
            each({});
        flush_soon();
    }
    else if (!waiting_.empty())
        send_batch();
    else if (!reading_.empty())
        read_next();
}

/// Sends a request. If it gets no reply, the connection ends.
/// @param again The token is new.
void session::post(const std::string& target, std::string body, http_handler then, bool again)
{
    busy_ = true;
    // Only a user's request may be repeated with another token.
    std::string kept = settings_.user.empty() || again ? std::string() : body;
    link_->post(target, std::move(body), token_, reply_limit(),
                [weak = weak_from_this(), target, kept = std::move(kept), then = std::move(then),
                 again](const http_reply& got) {
                    const auto self = weak.lock();
                    if (!self || self->user_ == nullptr)
                        return;
                    self->busy_ = false;
                    if (!got.failure.empty())
                        return self->on_closed(trouble_here(got.failure));
                    if (got.status != 200 && !again && !self->settings_.user.empty() &&
                        needs_authentication(read_error(got.status, got.body)))
                        return self->authenticate([to = self.get(), target, kept, then] {
                            to->post(target, kept, then, true);
                        });
                    then(got);
                    if (self->user_ != nullptr)
                        self->flush_soon();
                });
}

void session::refuse(std::vector<reply_handler> handlers, const http_reply& got)
{
    const server_error error = read_error(got.status, got.body);
    const reply with{.failed = classify(error), .error = error};
    for (const reply_handler& each : handlers)
        each(with);
    if (with.failed == errc::outcome_unknown)
        on_closed(trouble_of(error));
}

/// Gets a new lease.
void session::grant(std::function<void(const http_reply&, const std::optional<new_lease>&)> then)
{
    post("lease/grant", grant_request(std::chrono::ceil<seconds>(settings_.session).count()),
         [sent = clock::now(), before = lease_id_ != 0 ? lease_.last() : greeted_,
          then = std::move(then)](const http_reply& got) {
             const auto given = got.status == 200 ? read_grant(got.body) : std::nullopt;
             if (!given || given->seconds <= 0)
                 return then(got, std::nullopt);
             const milliseconds ttl = seconds(std::min<std::int64_t>(given->seconds, 24 * 3600));
             then(got,
                  new_lease{given->lease, ttl, session_lease(sent, ttl, before, given->header.at)});
         });
}

void session::adopt(const new_lease& given)
{
    lease_id_ = given.id;
    leases_ = {given.id};
    ttl_ = given.ttl;
    lease_ = given.belief;
}

/// Begins the session: a lease, and the key of the client.
void session::begin_now()
{
    grant([this](const http_reply& got, const std::optional<new_lease>& given) {
        if (!given)
            return refuse(std::exchange(beginning_, {}), got);
        adopt(*given);
        write_key();
    });
}

/// A transaction that uses the lease that the session has now.
transaction session::bound(const transaction& what) const
{
    transaction made = what;
    if (!what.own_key.empty())
        made.success = both(what.success, put_key(what.own_key, what.own_value, lease_id_));
    return made;
}

/// As many transactions as the server allows in one, each as a nested one. With a user each goes
/// alone: some versions do not check the rights of nested ones.
void session::send_batch()
{
    const std::size_t most = settings_.user.empty() ? most_in_batch : 1;
    std::size_t bytes = 0;
    std::string nested;
    while (!waiting_.empty() && in_flight_.size() < most) {
        std::string operation = as_operation(bound(waiting_.front().what));
        bytes += operation.size();
        if (bytes > most_bytes && !in_flight_.empty())
            break;
        nested = both(nested, operation);
        in_flight_.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
    }
    transaction all{.conditions = modified_at(key_, epoch_),
                    .success = std::move(nested),
                    .failure = get_key(key_)};
    // The operations of `failure` are executed although the epoch is another one.
    const bool alone = in_flight_.size() == 1 && !in_flight_.front().what.writes_anyway;
    if (alone) {
        const transaction one = bound(in_flight_.front().what);
        all = {.conditions = both(all.conditions, one.conditions),
               .success = one.success,
               .failure = both(one.failure, all.failure)};
    }
    post("kv/txn", text_of(all), [this, alone, proof = lease_.asking()](const http_reply& got) {
        on_batch(got, alone, proof);
    });
}

/// @param alone The transaction is not nested.
void session::on_batch(const http_reply& got, bool alone, const session_lease::keep_alive& proof)
{
    const auto self = shared_from_this();
    if (got.status != 200) {
        const server_error error = read_error(got.status, got.body);
        std::vector<reply_handler> handlers;
        for (waiting& each : std::exchange(in_flight_, {}))
            handlers.push_back(std::move(each.handler));
        refuse(std::move(handlers), got);
        if (is_lease_gone(error))
            end_session();
        return;
    }
    auto read = read_transaction(got.body);
    if (!read ||
        (!alone && read->result.succeeded && read->result.operations.size() != in_flight_.size()))
        return on_closed(trouble_here("a reply is malformed"));
    lease_.answered(proof, read->header.at);
    bool guarded = read->result.succeeded;
    if (!guarded && alone && !read->result.operations.empty()) {
        const auto& key = read->result.operations.back().keys;
        guarded = key.size() == 1 && key.front().modified == epoch_;
    }
    const batch all = std::exchange(in_flight_, {});
    if (!guarded) {
        for (const waiting& each : all)
            each.handler({.failed = errc::store_unavailable});
        return on_closed(trouble_here(key_changed));
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        reply to{.header = read->header};
        to.result = std::move(alone ? read->result : read->result.operations[i].nested);
        all[i].handler(to);
    }
}

/// Keeps the lease alive, and has that confirmed.
void session::keep_alive()
{
    renewal_due_ = false;
    for (auto& each : std::exchange(to_renew_, {}))
        renewing_.push_back(std::move(each));
    if (lease_.is_outdated())
        return move();
    post("lease/keepalive", lease_request(lease_id_),
         [this, of = lease_.sending(clock::now())](const http_reply& got) {
             const auto kept = got.status == 200 ? read_keep_alive(got.body) : std::nullopt;
             if (!kept)
                 return not_renewed(got);
             if (kept->seconds <= 0)
                 return end_session();
             lease_.kept(of);
             confirm();
         });
}

void session::confirm()
{
    post("kv/range", confirmation_body(key_),
         [this, proof = lease_.asking()](const http_reply& got) {
             const auto read = got.status == 200 ? read_range(got.body) : std::nullopt;
             if (!read)
                 return not_renewed(got);
             lease_.answered(proof, read->header.at);
             if (read->keys.empty() || read->keys.front().key != key_ ||
                 read->keys.front().modified != epoch_)
                 return on_closed(trouble_here(key_changed));
             if (lease_.is_outdated())
                 return move();
             renewed(read->header);
         });
}

/// Moves all keys to a new lease. Until then the outdated one counts, which lives shorter.
void session::move()
{
    grant([this](const http_reply& got, const std::optional<new_lease>& given) {
        if (!given)
            return not_renewed(got);
        auto moves = user_->moves_to(given->id);
        leases_.insert(given->id);
        move_keys(*given, std::move(moves));
    });
}

/// Each part also moves the key of the client, so that it finds out whether the session has ended.
void session::move_keys(const new_lease& to, std::vector<session_user::move> moves)
{
    std::string nested;
    std::size_t count = 0;
    while (count < moves.size() && count < most_in_batch && nested.size() < most_bytes)
        nested = both(nested, moves[count++].operation);
    post("kv/txn",
         text_of(transaction{.conditions = modified_at(key_, epoch_),
                             .success = both(put_key(key_, value_, to.id), nested),
                             .failure = get_key(key_)}),
         [this, to, count, moves = std::move(moves)](const http_reply& got) {
             moved(to, moves, count, got);
         });
}

void session::moved(const new_lease& to, std::vector<session_user::move> moves, std::size_t count,
                    const http_reply& got)
{
    const auto self = shared_from_this();
    const auto read = got.status == 200 ? read_transaction(got.body) : std::nullopt;
    if (!read)
        return not_renewed(got);
    const transaction_reply& result = read->result;
    if (!result.succeeded)
        return result.keys(0).empty() ? end_session() : on_closed(trouble_here(key_changed));
    if (result.operations.size() != count + 1)
        return on_closed(trouble_here("a reply is malformed"));
    epoch_ = read->header.revision;
    // After an earlier move without a reply, the lease of that move may have ended with the key.
    for (std::size_t i = 0; i < count && user_ != nullptr; ++i) {
        if (!result.operations[i + 1].nested.succeeded)
            user_->on_not_moved(moves[i].key);
    }
    if (user_ == nullptr)
        return;
    moves.erase(moves.begin(), moves.begin() + static_cast<std::ptrdiff_t>(count));
    if (!moves.empty())
        return move_keys(to, std::move(moves));
    adopt(to);
    renewed(read->header);
}

void session::renewed(const reply_header& at)
{
    beat();
    for (const auto& each : std::exchange(renewing_, {}))
        each({.header = at});
}

void session::not_renewed(const http_reply& got)
{
    beat();
    refuse(std::exchange(renewing_, {}), got);
}

void session::read_next()
{
    post("kv/range", reading_.front().body, [this](const http_reply& got) {
        const reading answered = std::move(reading_.front());
        reading_.pop_front();
        answered.handler(got.status == 200 ? read_range(got.body) : std::nullopt);
    });
}

void session::beat()
{
    beat_timer_->expires_after(ttl_ / beats);
    beat_timer_->async_wait([weak = weak_from_this()](error_code failed) {
        const auto self = weak.lock();
        if (failed || !self || !self->ready_)
            return;
        self->renewal_due_ = true;
        self->flush_soon();
    });
}

/// The lease has ended. Requests that were not sent belong to it, too.
void session::end_session()
{
    const auto self = shared_from_this();
    lease_id_ = 0;
    leases_.clear();
    epoch_ = 0;
    greeted_ = lease_.last();
    lease_ = {};
    renewal_due_ = false;
    beat_timer_->cancel();
    fail_all(errc::store_unavailable);
    if (user_ != nullptr)
        user_->on_session_end();
}

} // namespace leasehold::etcd_store
