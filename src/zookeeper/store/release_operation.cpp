#include "zookeeper/store/store_state.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace leasehold::zookeeper_store {
namespace {

using std::chrono::milliseconds;
using released = release_reply::outcome;

/// Releases a lock or a reentrant acquisition, or leaves the queue: removes the child, and looks at
/// those that are left. The next owner of the client joins in the same step.
class release_operation final : public operation_of_name
{
public:
    release_operation(const std::shared_ptr<store_state>& state, const release_request& request,
                      store::release_handler handler)
        : operation_of(state, lock_node(state->settings().root, request.name)),
          name_(request.name),
          key_(place + '/' + child_prefix(request.owner, request.entry)),
          handler_(std::move(handler)),
          sent_(clock::now())
    {
        reply_.receivers_known = false;
        if (request.next != nullptr && request.next->budget.count() > 0)
            next_.emplace(*request.next, place);
    }

    void start() override
    {
        const contender* const of = state_->find(key_);
        if (of == nullptr)
            return finish(); // "not owner"
        // An earlier request of this release may have been executed in part.
        if (const contender* const joins = next_ ? state_->find(next_->key) : nullptr;
            joins != nullptr && joins->doubtful)
            return locate_next();
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
        next_owner(const acquire_request& request, const std::string& folder)
            : owner(request.owner),
              prefix(child_prefix(request.owner, {})),
              key(folder + '/' + prefix),
              lease(request.lease),
              floor(request.fence_floor),
              fences(request.fences),
              needs_holder(request.needs_holder)
        {}
        std::string owner, prefix, key;
        milliseconds lease;
        std::uint64_t floor;
        std::uint32_t fences;
        bool needs_holder;
    };

    void locate_next()
    {
        state_->locate(next_->key, [this, self = shared_from_this()](const reply& got, bool found) {
            if (!got.good())
                return state_->finish_failed(self, got, name_);
            if (!found)
                state_->erase(next_->key);
            start();
        });
    }

    void remove()
    {
        contender& of = *state_->find(key_);
        of.leaving = true;
        number_ = of.number;
        // A transaction would not tell the number of the change, which the fences need. The next
        // owner joins first, and leaves if there was nothing to release.
        const std::string path = of.path();
        if (next_ && state_->find(next_->key) == nullptr) {
            contender added{
                .name = name_, .owner = next_->owner, .folder = place, .prefix = next_->prefix};
            added.doubtful = true;
            const contender& joins = state_->insert(std::move(added));
            state_->to().send(
                state_->child_of(joins, node_kind::ephemeral_sequential, next_->prefix),
                [this, self = shared_from_this()](const reply& got) { joined(got); });
        }
        state_->to().send(remove_node(path),
                          [this, self = shared_from_this()](const reply& got) { removed(got); });
        state_->read_queue(
            place, [this, self = shared_from_this()](const reply& got, const queue_view& queue) {
                if (!failed_.good() && failed_.error != no_node)
                    return state_->finish_failed(self, failed_, name_);
                if (!got.good())
                    return state_->finish_failed(self, got, name_);
                decide(queue);
            });
    }

    void joined(const reply& got)
    {
        contender* const joins = state_->find(next_->key);
        if (joins == nullptr || got.failed == errc::outcome_unknown)
            return; // in the second case, the next owner is doubtful
        const auto made = got.good() ? read_created(got.body) : std::nullopt;
        if (!made)
            return state_->erase(next_->key);
        joins->take(*made);
    }

    void removed(const reply& got)
    {
        failed_ = {got.failed, got.error, {}};
        contender* const of = state_->find(key_);
        if (of == nullptr)
            return;
        if (got.failed == errc::outcome_unknown) {
            of->doubtful = true;
            return;
        }
        of->leaving = false;
        if (got.good() || got.error == no_node)
            state_->erase(key_);
    }

    /// @param queue The nodes that are left.
    void decide(queue_view queue)
    {
        contender* joins = next_ ? state_->find(next_->key) : nullptr;
        if (joins != nullptr && !queue.contains(joins->child)) {
            state_->erase(next_->key); // another client has removed it
            joins = nullptr;
        }
        const queue_view with_next = queue;
        if (joins != nullptr)
            queue.erase(joins->child);
        reply_.result = !failed_.good()                            ? released::not_owner
                        : queue.has(number_)                       ? released::still_held
                        : queue.empty()                            ? released::freed
                        : is_before(queue.first().number, number_) ? released::left_queue
                                                                   : released::granted_next;
        if (joins == nullptr)
            return finish();
        if (reply_.result == released::freed || reply_.result == released::granted_next)
            return join_queue(with_next);
        withdraw_next();
    }

    void join_queue(const queue_view& queue)
    {
        contender* const joins = state_->find(next_->key);
        if (joins == nullptr || !queue.contains(joins->child)) {
            state_->erase(next_->key);
            return finish();
        }
        acquire_reply& next_reply = reply_.next.emplace();
        if (queue.is_first(joins->number)) {
            joins->holds = true;
            const fence_block given = take_fences(*joins, next_->fences, next_->floor);
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
        next_reply.position = queue.position(joins->number);
        next_reply.details = holder_of(queue, next_->needs_holder);
        state_->watch_before(next_->key, place + '/' + queue.before(joins->number).name,
                             [this, self = shared_from_this()](const reply& got) {
                                 if (got.error == no_node)
                                     return state_->read_queue(
                                         place,
                                         [this, self](const reply& seen, const queue_view& now) {
                                             if (!seen.good())
                                                 return state_->finish_failed(self, seen, name_);
                                             join_queue(now);
                                         });
                                 if (!got.good())
                                     return state_->finish_failed(self, got, name_);
                                 finish();
                             });
    }

    /// The lock was not released, or has no fence for it, so the next owner does not join.
    void withdraw_next()
    {
        reply_.next.reset();
        contender& joins = *state_->find(next_->key);
        joins.leaving = true;
        state_->to().send(remove_node(joins.path()),
                          [this, self = shared_from_this()](const reply& got) {
                              contender* const left = state_->find(next_->key);
                              if (got.failed && left != nullptr)
                                  left->doubtful = true;
                              else
                                  state_->erase(next_->key);
                              finish();
                          });
    }

    const std::string name_, key_;
    store::release_handler handler_;
    const clock::time_point sent_;
    std::optional<next_owner> next_;
    release_reply reply_;
    reply failed_; ///< Of the removal.
    std::int32_t number_ = 0;
};

} // namespace

std::shared_ptr<operation_of_name> make_release(const std::shared_ptr<store_state>& state,
                                                const release_request& request,
                                                store::release_handler handler)
{
    return std::make_shared<release_operation>(state, request, std::move(handler));
}

} // namespace leasehold::zookeeper_store
