// The answers to groups of releases, beside the path of a single release.
#include "redis/pipeline/pipeline.hpp"

#include <new>
#include <utility>

namespace leasehold::redis_store {

void pipeline::answer(command& one, grouped& waiting, error_code code, const details_ptr& more)
{
    const grouped group = std::move(waiting);
    const reply& answer = one.used_replies().front();
    // Nothing was executed, perhaps because of one name: each release is sent alone.
    const bool rejected = !answer.error.empty();
    for (std::size_t i = 0; i < group->size(); ++i) {
        std::optional<release_reply> freed;
        if (!code)
            freed = commands_->released_in_group(answer.numbers[i]);
        if (freed)
            count_receivers(*freed);
        if ((code && !rejected) || (freed && !overtook(group->request(i).name)))
            complete(*group, i, code, freed.value_or(release_reply()), more);
        // As in `finish`: the repetition only undoes an acquire that was sent again after it.
        else if (!leave(*group, i, freed))
            complete(*group, i, freed ? errc::outcome_unknown : errc::store_unavailable, {}, more);
    }
}

void pipeline::fail(release_group& unwritten, error_code code)
{
    for (std::size_t i = 0; i < unwritten.size(); ++i)
        complete(unwritten, i, code, {}, session_.why_down(unwritten.request(i).name));
}

/// Completes one release of a group.
void pipeline::complete(release_group& group, std::size_t index, error_code code,
                        release_reply reply, const details_ptr& more)
{
    reply.details = more;
    std::move(group.handler(index))(code, std::move(reply));
}

/// Sends the slow path of a release of a group, after the commands that were added since. It
/// completes with its first result, if there is one. Returns false if it cannot be sent.
bool pipeline::leave(release_group& group, std::size_t index,
                     const std::optional<release_reply>& first)
{
    if (!open_for_requests())
        return false;
    try {
        if (first)
            keep(group.handler(index), *first);
        next().leave(group, index, *commands_);
    }
    catch (const std::bad_alloc&) {
        return false;
    }
    flush_soon();
    return true;
}

} // namespace leasehold::redis_store
