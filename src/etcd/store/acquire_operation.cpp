#include "etcd/store/store_state.hpp"

#include <algorithm>
#include <utility>

namespace leasehold::etcd_store {
namespace {

using std::chrono::milliseconds;
using outcome = acquire_reply::outcome;

/// Acquires a lock, or joins its queue, with one transaction:
///   if it waits        create the key, and read the ones before it; the first one holds the lock
///   otherwise          create the key, if there is none of this lock
class acquire_operation final : public operation_of_name
{
public:
    acquire_operation(const std::shared_ptr<store_state>& state, const acquire_request& request,
                      store::acquire_handler handler)
        : operation_of(state, lock_prefix(state->settings().root, request.name)),
          name_(request.name),
          owner_(request.owner),
          key_(owner_key(place, request.owner)),
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
        if (clock::now() >= give_up_) {
            reply_.result = outcome::late;
            return finish();
        }
        state_->begin(owner_, [this, self = shared_from_this()](const reply& got) {
            if (!got.good())
                return state_->finish_failed(self, got, name_);
            const contender* const of = state_->find(key_);
            if (of == nullptr || of->doubtful)
                join();
            else if (of->holds)
                granted();
            else
                read_queue();
        });
    }

    void complete(error_code code, const details_ptr& details) override
    {
        answer(handler_, code, std::move(reply_), details);
    }

private:
    // A time point must not overflow.
    static constexpr milliseconds longest = std::chrono::hours(24);

    /// An earlier request of this owner may have created the key. Then it is found.
    void join()
    {
        ++attempts_;
        was_doubtful_ = state_->find(key_) != nullptr;
        contender& of = was_doubtful_ ? *state_->find(key_)
                                      : state_->insert(contender(name_, owner_, place));
        of.doubtful = true;
        transaction what;
        if (waits_) {
            what.conditions = created_at(key_, 0);
            what.success = keys_before(place, 0, longest_view);
            what.failure = get_key(key_);
        }
        else {
            what.conditions = none_exists(place);
            what.failure = both(get_key(key_), first_key(place));
        }
        state_->put(what, of);
        state_->to().send(std::move(what),
                          [this, self = shared_from_this()](const reply& got) { joined(got); });
    }

    void joined(const reply& got)
    {
        contender* const of = state_->find(key_);
        if (!got.good() || of == nullptr) {
            // After an unknown outcome, the owner is doubtful.
            if (got.failed != errc::outcome_unknown && !was_doubtful_)
                state_->erase(key_);
            return state_->finish_failed(shared_from_this(),
                                         got.good() ? reply{.failed = errc::outcome_unknown} : got,
                                         name_);
        }
        of->doubtful = of->leaving = false;
        if (got.result.succeeded) {
            of->created = got.header.revision;
            of->used = 0;
            return decide(waits_ ? got.result.keys(0) : queue_view(), got.header.revision);
        }
        const queue_view& mine = got.result.keys(0);
        if (!mine.empty() && state_->to().owns(mine.front().lease)) {
            of->created = mine.front().created;
            return read_queue();
        }
        state_->erase(key_);
        if (!mine.empty())
            return state_->finish_refused(shared_from_this(), errc::store_refused,
                                          "the key of this owner belongs to another client", name_);
        held_by(got.result.keys(1));
        finish();
    }

    void read_queue()
    {
        state_->read_queue(
            *state_->find(key_), [this, self = shared_from_this()](const reply& got, bool exists,
                                                                   const queue_view& queue) {
                if (!got.good())
                    return state_->finish_failed(self, got, name_);
                if (exists && state_->find(key_) != nullptr)
                    return decide(queue, got.header.revision);
                // Another client has removed it.
                state_->erase(key_);
                if (attempts_ < 3)
                    return join();
                state_->finish_refused(self, errc::store_refused,
                                       "another program removes the key of this owner", name_);
            });
    }

    void decide(const queue_view& queue, std::uint64_t revision)
    {
        contender& of = *state_->find(key_);
        if (queue.empty()) {
            of.holds = true;
            return granted();
        }
        held_by(queue);
        if (!waits_)
            return withdraw({});
        reply_.queued = true;
        reply_.position = position_in(queue);
        reply_.may_miss_grant = state_->is_deaf();
        state_->watch_before(of, queue, revision);
        finish();
    }

    void held_by(const queue_view& queue)
    {
        reply_.result = outcome::held;
        reply_.remaining = milliseconds(-1);
        reply_.details = holder_of(queue, needs_holder_);
    }

    /// Completes after the key was removed.
    /// @param refused Why the lock is not granted. Null: it is held.
    void withdraw(const char* refused)
    {
        state_->find(key_)->leaving = true;
        state_->to().send({.conditions = {}, .success = delete_key(key_), .failure = {}},
                          [this, self = shared_from_this(), refused](const reply& got) {
                              if (!got.good()) {
                                  if (contender* const left = state_->find(key_)) {
                                      left->leaving = false;
                                      left->doubtful = got.failed == errc::outcome_unknown;
                                  }
                                  return state_->finish_failed(self, got, name_);
                              }
                              state_->erase(key_);
                              if (refused != nullptr)
                                  return state_->finish_refused(self, errc::store_refused, refused,
                                                                name_);
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
            return state_->finish_refused(shared_from_this(), errc::store_refused,
                                          "another program has removed the key of this owner",
                                          name_);
        const auto given = detail::take_fences(of->created, of->used, fences_, floor_);
        if (given.size == 0)
            return withdraw(fence_below_floor);
        reply_ = {};
        reply_.result = outcome::granted;
        reply_.first_fence = given.first;
        reply_.fences = given.size;
        state_->limit_lease(reply_, sent_, lease_);
        finish();
    }

    const std::string name_, owner_, key_;
    store::acquire_handler handler_;
    const milliseconds lease_;
    const clock::time_point sent_;
    const clock::time_point give_up_;
    const std::uint64_t floor_;
    const std::uint32_t fences_;
    const bool waits_;
    const bool needs_holder_;
    acquire_reply reply_;
    int attempts_ = 0;
    bool was_doubtful_ = false;
    bool touched_ = false;
};

/// Adds a reentrant acquisition to the lock of an owner of this client. The server does not know of
/// it: the key stays until the last one is released.
class reenter_operation final : public operation_of_name
{
public:
    reenter_operation(const std::shared_ptr<store_state>& state, const acquire_request& request,
                      store::acquire_handler handler)
        : operation_of(state, lock_prefix(state->settings().root, request.name)),
          name_(request.name),
          owner_(request.owner),
          entry_(request.entry),
          key_(owner_key(place, request.owner)),
          handler_(std::move(handler)),
          lease_(request.lease),
          sent_(clock::now())
    {}

    void start() override
    {
        state_->begin(owner_, [this, self = shared_from_this()](const reply& got) {
            if (!got.good())
                return state_->finish_failed(self, got, name_);
            const contender* const of = state_->find(key_);
            if (of == nullptr)
                return read_queue();
            if (!of->doubtful)
                return reenter();
            state_->locate(key_, [this, self](const reply& located, bool found) {
                if (!located.good())
                    return state_->finish_failed(self, located, name_);
                if (!found)
                    state_->erase(key_);
                reenter();
            });
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
    void reenter()
    {
        contender* const of = state_->find(key_);
        if (of != nullptr && of->holds) {
            of->entries.insert(entry_);
            result_ = outcome::granted;
        }
        finish();
    }

    /// The owner may be another client's.
    void read_queue()
    {
        state_->to().send({.conditions = {}, .success = first_key(place), .failure = {}},
                          [this, self = shared_from_this()](const reply& got) {
                              if (!got.good())
                                  return state_->finish_failed(self, got, name_);
                              const auto& first = got.result.keys(0);
                              if (first.empty() || first.front().key != key_)
                                  return finish();
                              state_->finish_refused(self, errc::not_supported,
                                                     "the owner belongs to another client, and "
                                                     "etcd has the reentrant acquisitions of one "
                                                     "client only",
                                                     name_);
                          });
    }

    const std::string name_, owner_, entry_, key_;
    store::acquire_handler handler_;
    const milliseconds lease_;
    const clock::time_point sent_;
    outcome result_ = outcome::gone;
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

} // namespace leasehold::etcd_store
