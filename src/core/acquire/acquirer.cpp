#include "core/acquire/acquirer.hpp"

#include "base/mutant.hpp"
#include "core/acquire/backoff_acquirer.hpp"
#include "core/acquire/line_acquirer.hpp"

#include <algorithm>

namespace leasehold::detail {
namespace {

// More fences than this are never reserved: after a loss of data the counter starts from the clock,
// which a block must not be far ahead of.
constexpr std::uint32_t most_fences = 10'000;

} // namespace

acquirer::pointer acquirer::make(const client_parts& client, waiting& behalf)
{
    // A client has one kind of them.
    if (client.context.traits().queues)
        return pointer(new (client.pool.take(sizeof(line_acquirer))) line_acquirer(client, behalf));
    return pointer(new (client.pool.take(sizeof(backoff_acquirer)))
                       backoff_acquirer(client, behalf));
}

void acquirer::give_back::operator()(acquirer* one) const noexcept
{
    acquirer_pool& pool = one->client_.pool;
    void* const memory = dynamic_cast<void*>(one);
    one->~acquirer();
    pool.give_back(memory);
}

std::uint32_t acquirer::fences(const lock_options& options) noexcept
{
    const bool hands_over = !has(mutant::fences_not_reserved) && options.renew &&
                            options.handoff_count > 0 && options.handoff_time.count() > 0;
    return hands_over ? std::min(options.handoff_count, most_fences - 1) + 1 : 1;
}

void acquirer::send(acquire_window& through, spec_ptr lock, const owner_id& owner,
                    const acquire_attempt::terms& asked)
{
    under_way_ = new acquire_attempt(context(), client_.releases, through, *this, std::move(lock),
                                     owner, {});
    ++requests_;
    under_way_->send(asked);
}

void acquirer::on_answer(acquire_attempt& attempt, error_code failed, const acquire_reply& reply)
{
    const acquire_attempt_ptr stays = std::exchange(under_way_, nullptr);
    if (!failed && reply.result == acquire_reply::outcome::gone) // no answer to what was asked
        failed = errc::store_refused;
    if (failed)
        on_failure(attempt, failed, reply);
    else
        on_reply(attempt, reply);
    behalf_.on_rest();
}

void acquirer::on_failure(acquire_attempt& attempt, error_code failed, const acquire_reply& reply)
{
    if (failed == errc::not_replicated) {
        behalf_.on_unconfirmed(attempt.spec->options.replica_acks, reply.details);
        return on_failed(attempt, effect::has_run);
    }
    if (failed == condition::bad_request)
        behalf_.on_hopeless(failed, reply.details);
    else
        behalf_.on_refused(failed, reply.details);
    on_failed(attempt,
              failed == errc::outcome_unknown || reply.may_hold ? effect::may_run : effect::none);
}

void acquirer::drop() noexcept
{
    if (under_way_)
        std::exchange(under_way_, nullptr)->forget();
    withdraw();
}

} // namespace leasehold::detail
