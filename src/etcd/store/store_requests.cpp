#include "etcd/store/store_state.hpp"

#include "base/info_text.hpp"
#include "base/process_text.hpp"

#include <algorithm>
#include <utility>

// The requests of the store that concern no acquire and no release alone.
namespace leasehold::etcd_store {
namespace {

using std::chrono::milliseconds;

/// Finds out whether a waiter is the first, after the key before its own was removed.
class poll_operation final : public operation_of_name
{
public:
    poll_operation(const std::shared_ptr<store_state>& state, const contender& of)
        : operation_of(state, of.prefix), key_(of.key)
    {}

    void start() override
    {
        const contender* const of = state_->find(key_);
        if (of == nullptr || of->doubtful || of->leaving || of->holds)
            return finish();
        state_->read_queue(*of, [this, self = shared_from_this()](const reply& got, bool exists,
                                                                  const queue_view& queue) {
            contender* const found = state_->find(key_);
            if (!got.good() || found == nullptr)
                return finish();
            if (!exists)
                state_->gone(key_);
            else if (queue.empty())
                found->holds = granted_ = true;
            else
                state_->watch_before(*found, queue, got.header.revision);
            finish();
        });
    }

    void complete(error_code, const details_ptr&) override
    {
        const contender* const of = state_->find(key_);
        if (granted_ && of != nullptr)
            state_->notify_grant(*of);
    }

private:
    const std::string key_;
    bool granted_ = false;
};

} // namespace

void store_state::begin(std::string_view owner, std::function<void(const reply&)> then)
{
    if (session_->has_begun())
        return then({});
    std::string client(client_of(owner));
    if (client.empty())
        client = "client";
    session_->begin(client_key(settings_.root, client), info_text_, std::move(then));
}

void store_state::read_queue(const contender& of,
                             std::function<void(const reply&, bool, const queue_view&)> then)
{
    session_->send({.conditions = created_at(of.key, of.created),
                    .success = keys_before(of.prefix, of.created, longest_view),
                    .failure = {}},
                   [then = std::move(then)](const reply& got) {
                       then(got, got.result.succeeded,
                            got.result.succeeded ? got.result.keys(0) : queue_view());
                   });
}

void store_state::locate(std::string_view key, std::function<void(const reply&, bool)> then)
{
    session_->send({.conditions = {}, .success = get_key(key), .failure = {}},
                   [self = shared_from_this(), key = std::string(key),
                    then = std::move(then)](const reply& got) {
                       contender* const of = self->find(key);
                       if (!got.good() || of == nullptr)
                           return then(got, false);
                       const auto& keys = got.result.keys(0);
                       const bool found = keys.size() == 1 &&
                                          self->session_->owns(keys.front().lease);
                       of->doubtful = of->leaving = false;
                       if (found)
                           of->created = keys.front().created;
                       then(got, found);
                   });
}

void store_state::put(transaction& with, const contender& whose) const
{
    with.own_key = whose.key;
    with.own_value = detail::process_text(info_);
}

std::vector<session_user::move> store_state::moves_to(std::int64_t lease) const
{
    std::vector<move> all;
    for (const auto& [key, of] : contenders_) {
        const std::string put = put_key(key, detail::process_text(info_), lease);
        const auto move_if = [&](std::string condition, std::string otherwise) {
            return as_operation({.conditions = std::move(condition),
                                 .success = put,
                                 .failure = std::move(otherwise)});
        };
        std::string operation;
        if (!of.doubtful && of.created != 0)
            operation = move_if(created_at(key, of.created), {});
        else // the server rejects a second put of a key that is no alternative to the first
            for (const std::int64_t each : session_->leases())
                operation = move_if(attached_to(key, each), std::move(operation));
        all.push_back({key, std::move(operation)});
    }
    return all;
}

void store_state::on_not_moved(const std::string& key)
{
    const contender* const of = find(key);
    if (of != nullptr && !of->doubtful && !of->leaving)
        gone(key);
}

void store_state::watch_before(contender& of, const queue_view& queue, std::uint64_t revision)
{
    if (!settings_.user.empty() || (of.before_watch != 0 && of.before_key == queue.front().key))
        return;
    end_watch(of.before_watch);
    of.before_key = queue.front().key;
    of.before_watch = watcher_->add(of.before_key, revision + 1, watcher::pace::prompt);
    watches_.emplace(of.before_watch, of.key);
}

void store_state::poll(const contender& of)
{
    add(std::make_shared<poll_operation>(shared_from_this(), of));
}

// Renewals

struct store_state::renewal_batch
{
    store::renew_handler handler;
    std::vector<std::string> keys;
    std::vector<std::string> entries;
    std::vector<renewal_result> results;
    clock::time_point sent;
    std::size_t outstanding = 1; ///< Requests; one for the renewal of the session.
    reply failed;                ///< The first failure.
};

void store_state::renew(std::span<const renewal> renewals, store::renew_handler handler)
{
    const auto batch = std::make_shared<renewal_batch>();
    batch->handler = std::move(handler);
    batch->sent = clock::now();
    const auto complete = [self = shared_from_this(), batch](error_code code, renew_reply made) {
        self->post([batch, code, made = std::move(made)]() mutable {
            std::move(batch->handler)(code, std::move(made));
        });
    };
    if (!ready()) {
        renew_reply none;
        none.details = outage_.details();
        return complete(down(), std::move(none));
    }
    bool any = false;
    for (const renewal& each : renewals) {
        batch->keys.push_back(owner_key(lock_prefix(settings_.root, each.name), each.owner));
        batch->entries.emplace_back(each.entry);
        const contender* const of = find(batch->keys.back());
        const bool unknown = of != nullptr && (of->doubtful || of->leaving);
        const bool held = of != nullptr && of->holds && !unknown &&
                          of->entries.contains(batch->entries.back());
        batch->results.push_back(unknown ? renewal_result::failed
                                 : held  ? renewal_result::renewed
                                         : renewal_result::gone);
        any = any || held;
        if (held && !watcher_->watches(of->own_watch))
            check_own(batch, *of);
    }
    if (!any)
        return complete({}, renew_reply(batch->results));
    session_->renew(
        [self = shared_from_this(), batch](const reply& got) { self->finish_renewal(batch, got); });
}

/// Reads the key of a holder. From then on its removal is an event.
void store_state::check_own(const std::shared_ptr<renewal_batch>& batch, const contender& of)
{
    ++batch->outstanding;
    session_->send(
        {.conditions = created_at(of.key, of.created), .success = get_key(of.key), .failure = {}},
        [self = shared_from_this(), batch, key = of.key, created = of.created](const reply& got) {
            contender* const found = self->find(key);
            if (got.good() && found != nullptr && found->created == created && !found->leaving) {
                if (!got.result.succeeded) {
                    self->gone(key);
                }
                else if (found->own_watch == 0 && self->settings_.user.empty()) {
                    found->own_watch = self->watcher_->add(key, got.header.revision + 1,
                                                           watcher::pace::complete);
                    self->watches_.emplace(found->own_watch, key);
                }
            }
            self->finish_renewal(batch, got);
        });
}

void store_state::finish_renewal(const std::shared_ptr<renewal_batch>& batch, const reply& got)
{
    if (!got.good() && batch->failed.good())
        batch->failed = got;
    if (--batch->outstanding != 0)
        return;
    renew_reply made;
    if (!batch->failed.good()) {
        made.details = details_of_reply(batch->failed, {});
        return std::move(batch->handler)(batch->failed.failed, std::move(made));
    }
    for (std::size_t i = 0; i < batch->keys.size(); ++i) {
        // It may have been removed meanwhile.
        const contender* const of = find(batch->keys[i]);
        if (batch->results[i] == renewal_result::renewed &&
            (of == nullptr || !of->entries.contains(batch->entries[i])))
            batch->results[i] = renewal_result::gone;
    }
    made.results = std::move(batch->results);
    made.lease = left_from(batch->sent);
    std::move(batch->handler)(error_code(), std::move(made));
}

// Descriptions

void store_state::describe(std::string_view holder, store::describe_handler handler)
{
    auto kept = std::make_shared<store::describe_handler>(std::move(handler));
    const auto complete = [kept](const client_info& found) { std::move (*kept)(found); };
    if (!ready() || holder.empty())
        return post([complete] { complete({}); });
    session_->read({.prefix = client_key(settings_.root, holder), .most = 1},
                   [complete](const std::optional<range_reply>& got) {
                       complete(got && !got->keys.empty()
                                    ? detail::read_info(got->keys.front().value)
                                    : client_info());
                   });
}

details_ptr holder_of(const queue_view& queue, bool wanted)
{
    if (!wanted || queue.empty())
        return nullptr;
    auto details = std::make_shared<diagnostics>();
    details->holder = holder_name(owner_of_key(queue.back().key));
    return details->holder.empty() ? nullptr : details;
}

} // namespace leasehold::etcd_store
