#include "etcd/store/store_state.hpp"

#include <optional>
#include <utility>

namespace leasehold::etcd_store {
namespace {

using std::chrono::milliseconds;
using released = release_reply::outcome;

/// Releases a lock or a reentrant acquisition, or leaves the queue: with the last acquisition of
/// the owner it removes the key, and reads the ones that are left. The next owner of the client
/// joins in the same transaction, if the lock was released.
class release_operation final : public operation_of_name
{
public:
    release_operation(const std::shared_ptr<store_state>& state, const release_request& request,
                      store::release_handler handler)
        : operation_of(state, lock_prefix(state->settings().root, request.name)),
          name_(request.name),
          entry_(request.entry),
          key_(owner_key(place, request.owner)),
          handler_(std::move(handler)),
          sent_(clock::now())
    {
        reply_.receivers_known = false;
        if (request.next != nullptr && request.next->budget.count() > 0)
            next_.emplace(*request.next, place);
    }

    void start() override
    {
        contender* const of = state_->find(key_);
        if (of == nullptr || !of->entries.contains(entry_))
            return finish(); // "not owner"
        if (of->entries.size() > 1) {
            of->entries.erase(entry_);
            reply_.result = released::still_held;
            return finish();
        }
        if (!of->doubtful)
            return remove();
        state_->locate(key_, [this, self = shared_from_this()](const reply& got, bool found) {
            if (!got.good())
                return state_->finish_failed(self, got, name_);
            if (found)
                return remove();
            state_->erase(key_);
            finish();
        });
    }

    void complete(error_code code, const details_ptr& details) override
    {
        answer(handler_, code, std::move(reply_), details);
    }

private:
    /// The next owner, of the request.
    struct next_owner
    {
        next_owner(const acquire_request& request, const std::string& prefix)
            : owner(request.owner),
              key(owner_key(prefix, request.owner)),
              lease(request.lease),
              floor(request.fence_floor),
              fences(request.fences),
              needs_holder(request.needs_holder)
        {}
        std::string owner, key;
        milliseconds lease;
        std::uint64_t floor;
        std::uint32_t fences;
        bool needs_holder;
    };

    void remove()
    {
        contender& of = *state_->find(key_);
        of.leaving = true;
        created_ = of.created;
        transaction what;
        if (next_) {
            contender joins(name_, next_->owner, place);
            joins.doubtful = true;
            state_->put(what, state_->insert(std::move(joins)));
            const std::string left = keys_before(place, 0, longest_view);
            what.conditions = both(created_at(key_, created_),
                                   none_created_before(place, created_));
            what.success = both(delete_key(key_), left);
            what.failure = both(delete_key(key_), left);
            what.writes_anyway = true;
        }
        else {
            what.conditions = created_at(key_, created_);
            what.success = both(delete_key(key_), first_key(place));
        }
        state_->to().send(std::move(what),
                          [this, self = shared_from_this()](const reply& got) { removed(got); });
    }

    void removed(const reply& got)
    {
        contender* const of = state_->find(key_);
        if (!got.good()) {
            const bool unknown = got.failed == errc::outcome_unknown;
            if (of != nullptr) {
                of->leaving = false;
                of->doubtful = unknown;
            }
            // After an unknown outcome, the next owner is doubtful.
            if (next_ && !unknown)
                state_->erase(next_->key);
            return state_->finish_failed(shared_from_this(), got, name_);
        }
        state_->erase(key_);
        const queue_view& left = got.result.keys(1);
        const auto& operations = got.result.operations;
        const bool deleted = !operations.empty() && operations.front().deleted != 0;
        const bool was_first = next_ ? got.result.succeeded
                                     : left.empty() || left.front().created > created_;
        reply_.result = !deleted       ? released::not_owner
                        : !was_first   ? released::left_queue
                        : left.empty() ? released::freed
                                       : released::granted_next;
        if (!next_)
            return finish();
        if (!got.result.succeeded) { // there was no lock to release
            state_->erase(next_->key);
            return finish();
        }
        joined(left, got.header.revision);
    }

    void joined(const queue_view& before, std::uint64_t revision)
    {
        contender* const joins = state_->find(next_->key);
        if (joins == nullptr)
            return finish();
        joins->doubtful = false;
        joins->created = revision;
        acquire_reply& next_reply = reply_.next.emplace();
        if (before.empty()) {
            joins->holds = true;
            const auto given = detail::take_fences(joins->created, joins->used, next_->fences,
                                                   next_->floor);
            if (given.size == 0)
                return withdraw_next();
            next_reply.result = acquire_reply::outcome::granted;
            next_reply.first_fence = given.first;
            next_reply.fences = given.size;
            state_->limit_lease(next_reply, sent_, next_->lease);
            return finish();
        }
        next_reply.result = acquire_reply::outcome::held;
        next_reply.remaining = milliseconds(-1);
        next_reply.queued = true;
        next_reply.position = position_in(before);
        next_reply.may_miss_grant = state_->is_deaf();
        next_reply.details = holder_of(before, next_->needs_holder);
        state_->watch_before(*joins, before, revision);
        finish();
    }

    /// There is no fence for the next owner, so it does not join.
    void withdraw_next()
    {
        reply_.next.reset();
        state_->find(next_->key)->leaving = true;
        state_->to().send({.conditions = {}, .success = delete_key(next_->key), .failure = {}},
                          [this, self = shared_from_this()](const reply& got) {
                              contender* const left = state_->find(next_->key);
                              if (!got.good() && left != nullptr)
                                  left->doubtful = true;
                              else
                                  state_->erase(next_->key);
                              finish();
                          });
    }

    const std::string name_, entry_, key_;
    store::release_handler handler_;
    const clock::time_point sent_;
    std::optional<next_owner> next_;
    release_reply reply_;
    std::uint64_t created_ = 0;
};

} // namespace

std::shared_ptr<operation_of_name> make_release(const std::shared_ptr<store_state>& state,
                                                const release_request& request,
                                                store::release_handler handler)
{
    return std::make_shared<release_operation>(state, request, std::move(handler));
}

} // namespace leasehold::etcd_store
