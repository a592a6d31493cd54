#include "zookeeper/store/store_state.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace leasehold::zookeeper_store {
namespace {

using std::chrono::milliseconds;
using outcome = acquire_reply::outcome;

/// Acquires a lock, or joins its queue:
///   create the child and look        a free lock takes one round trip
///   is it the first?                 it holds the lock
///   otherwise, if it waits           watch the child before it
///   otherwise                        remove the child
class acquire_operation final : public operation_of_name
{
public:
    acquire_operation(const std::shared_ptr<store_state>& state, const acquire_request& request,
                      store::acquire_handler handler)
        : operation_of(state, lock_node(state->settings().root, request.name)),
          name_(request.name),
          owner_(request.owner),
          prefix_(child_prefix(request.owner, {})),
          key_(place + '/' + prefix_),
          handler_(std::move(handler)),
          lease_(request.lease),
          sent_(clock::now()),
          give_up_(sent_ + std::min(request.budget, longest)),
          floor_(request.fence_floor),
          fences_(request.fences),
          waits_(request.waits),
          needs_holder_(request.needs_holder)
    {}

    void start() override
    {
        state_->introduce(owner_);
        const contender* const of = state_->find(key_);
        if (clock::now() >= give_up_) {
            reply_.result = outcome::late;
            return finish();
        }
        if (of == nullptr)
            join(false);
        else if (of->doubtful)
            state_->locate(key_, [this, self = shared_from_this()](const reply& got, bool found) {
                if (!got.good())
                    return state_->finish_failed(self, got, name_);
                if (found)
                    return read_queue();
                state_->erase(key_);
                join(false);
            });
        else if (of->holds)
            granted();
        else
            read_queue();
    }

    void complete(error_code code, const details_ptr& details) override
    {
        answer(handler_, code, std::move(reply_), details);
    }

private:
    // A time point must not overflow.
    static constexpr milliseconds longest = std::chrono::hours(24);

    void join(bool with_folder)
    {
        ++attempts_;
        if (with_folder)
            cause_of_ = state_->make_folder(place);
        contender added{.name = name_, .owner = owner_, .folder = place, .prefix = prefix_};
        added.doubtful = true;
        const contender& of = state_->insert(std::move(added));
        state_->to().send(state_->child_of(of, node_kind::ephemeral_sequential, prefix_),
                          [this, self = shared_from_this()](const reply& got) { created(got); });
        read_queue();
    }

    void created(const reply& got)
    {
        contender* const of = state_->find(key_);
        failed_ = {got.failed, got.error, {}};
        if (cause_of_)
            failed_ = cause_of_(failed_);
        const auto made = got.good() ? read_created(got.body) : std::nullopt;
        if (made && of != nullptr) {
            of->take(*made);
        }
        else if (got.good()) {
            failed_.failed = errc::outcome_unknown;
        }
        else if (got.failed != errc::outcome_unknown) {
            state_->erase(key_);
        }
    }

    void read_queue()
    {
        state_->read_queue(
            place, [this, self = shared_from_this()](const reply& got, const queue_view& queue) {
                if (failed_.error == no_node && attempts_ == 1 && got.good()) {
                    failed_ = {};
                    return join(true);
                }
                if (!failed_.good())
                    return state_->finish_failed(self, failed_, name_);
                if (!got.good())
                    return state_->finish_failed(self, got, name_);
                decide(queue);
            });
    }

    void decide(const queue_view& queue)
    {
        contender* const of = state_->find(key_);
        if (of == nullptr || !queue.contains(of->child)) {
            // Another client has removed it.
            state_->erase(key_);
            if (attempts_ < 3)
                return join(false);
            return state_->finish_failed(shared_from_this(), {.error = no_node}, name_);
        }
        if (queue.is_first(of->number)) {
            of->holds = true;
            return granted();
        }
        reply_.result = outcome::held;
        reply_.remaining = milliseconds(-1);
        reply_.details = holder_of(queue, needs_holder_);
        if (!waits_)
            return withdraw({});
        reply_.queued = true;
        reply_.position = queue.position(of->number);
        state_->watch_before(key_, place + '/' + queue.before(of->number).name,
                             [this, self = shared_from_this()](const reply& got) {
                                 if (got.error == no_node)
                                     return read_queue(); // it has gone meanwhile
                                 if (!got.good())
                                     return state_->finish_failed(self, got, name_);
                                 finish();
                             });
    }

    /// Completes with `held`, or an error, after the child was removed.
    void withdraw(const reply& why)
    {
        contender* const of = state_->find(key_);
        of->leaving = true;
        state_->to().send(remove_node(of->path()),
                          [this, self = shared_from_this(), why](const reply& got) {
                              if (got.failed) {
                                  if (contender* const left = state_->find(key_))
                                      left->doubtful = true;
                                  return state_->finish_failed(self, got, name_);
                              }
                              state_->erase(key_);
                              if (!why.good())
                                  return state_->finish_failed(self, why, name_);
                              finish();
                          });
    }

    void granted()
    {
        if (!touched_ && state_->is_short(lease_)) {
            touched_ = true;
            return state_->touch([this, self = shared_from_this()](const reply& got) {
                if (!got.good())
                    return state_->finish_failed(self, got, name_);
                granted();
            });
        }
        contender* const of = state_->find(key_);
        if (of == nullptr)
            return state_->finish_failed(shared_from_this(), {.error = no_node}, name_);
        const fence_block given = take_fences(*of, fences_, floor_);
        if (given.size == 0)
            return withdraw({.error = fence_below_floor});
        reply_ = {};
        reply_.result = outcome::granted;
        reply_.first_fence = given.first;
        reply_.fences = given.size;
        state_->limit_lease(reply_, sent_, lease_);
        finish();
    }

    const std::string name_, owner_, prefix_, key_;
    store::acquire_handler handler_;
    const milliseconds lease_;
    const clock::time_point sent_;
    const clock::time_point give_up_;
    const std::uint64_t floor_;
    const std::uint32_t fences_;
    const bool waits_;
    const bool needs_holder_;
    acquire_reply reply_;
    reply failed_;                                ///< Of the creation.
    std::function<reply(const reply&)> cause_of_; ///< After the folder was made.
    int attempts_ = 0;
    bool touched_ = false;
};

/// Adds a reentrant acquisition to the lock of an owner: a child with the same number. The owner
/// may be another client's.
class reenter_operation final : public operation_of_name
{
public:
    reenter_operation(const std::shared_ptr<store_state>& state, const acquire_request& request,
                      store::acquire_handler handler)
        : operation_of(state, lock_node(state->settings().root, request.name)),
          name_(request.name),
          owner_(request.owner),
          prefix_(child_prefix(request.owner, request.entry)),
          key_(place + '/' + prefix_),
          handler_(std::move(handler)),
          lease_(request.lease),
          sent_(clock::now())
    {}

    void start() override
    {
        state_->introduce(owner_);
        const contender* const of = state_->find(key_);
        if (of == nullptr || !of->doubtful)
            return read_queue();
        state_->locate(key_, [this, self = shared_from_this()](const reply& got, bool found) {
            if (!got.good())
                return state_->finish_failed(self, got, name_);
            if (!found)
                state_->erase(key_);
            read_queue();
        });
    }

    void complete(error_code code, const details_ptr& details) override
    {
        acquire_reply made;
        made.result = result_;
        if (result_ == outcome::granted)
            state_->limit_lease(made, sent_, lease_);
        answer(handler_, code, std::move(made), details);
    }

private:
    void read_queue()
    {
        state_->read_queue(
            place, [this, self = shared_from_this()](const reply& got, const queue_view& queue) {
                if (!got.good())
                    return state_->finish_failed(self, got, name_);
                decide(queue);
            });
    }

    void decide(const queue_view& queue)
    {
        const std::string of_lock = child_prefix(owner_, {});
        const std::string of_entries = entries_prefix(owner_);
        const auto held = std::find_if(
            queue.children().begin(), queue.children().end(), [&](const queue_view::child& each) {
                return queue.is_first(each.number) &&
                       (is_child_of(each.name, of_lock) || each.name.starts_with(of_entries));
            });
        const contender* const known = state_->find(key_);
        if (known != nullptr && queue.contains(known->child)) {
            result_ = outcome::granted;
            return finish();
        }
        state_->erase(key_);
        if (held == queue.children().end() || ++attempts_ > 3) {
            result_ = outcome::gone;
            return finish();
        }
        const std::size_t end = held->name.rfind("-lock-") + 6;
        contender added{.name = name_, .owner = owner_, .folder = place, .prefix = prefix_};
        added.child = prefix_ + held->name.substr(end);
        added.number = held->number;
        added.doubtful = true;
        const contender& of = state_->insert(std::move(added));
        state_->to().send(all_of({check_node(place + '/' + held->name),
                                  state_->child_of(of, node_kind::ephemeral, of.child)}),
                          [this, self = shared_from_this()](const reply& got) { created(got); });
    }

    void created(const reply& got)
    {
        const auto self = shared_from_this();
        contender* const of = state_->find(key_);
        if (got.failed) {
            if (got.failed != errc::outcome_unknown)
                state_->erase(key_);
            return state_->finish_failed(self, got, name_);
        }
        const auto made = got.good() ? read_multi(got.body) : std::nullopt;
        const std::int32_t error = got.error != 0 ? got.error : made.value_or(0);
        if (error == no_node) {
            state_->erase(key_);
            return read_queue();
        }
        if (error == node_exists) // an earlier request of this entry
            return start();
        if (error != 0 || of == nullptr || !made) {
            state_->erase(key_);
            return state_->finish_failed(self, {.error = error}, name_);
        }
        of->doubtful = false;
        of->holds = true;
        result_ = outcome::granted;
        finish();
    }

    const std::string name_, owner_, prefix_, key_;
    store::acquire_handler handler_;
    const milliseconds lease_;
    const clock::time_point sent_;
    outcome result_ = outcome::gone;
    int attempts_ = 0;
};

} // namespace

std::shared_ptr<operation_of_name> make_acquire(const std::shared_ptr<store_state>& state,
                                                const acquire_request& request,
                                                store::acquire_handler handler)
{
    if (request.entry.empty())
        return std::make_shared<acquire_operation>(state, request, std::move(handler));
    return std::make_shared<reenter_operation>(state, request, std::move(handler));
}

} // namespace leasehold::zookeeper_store
