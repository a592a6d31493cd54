#include "redis/replicas/confirmed_requests.hpp"

#include "base/mutant.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::redis_store {
namespace {

std::shared_ptr<const diagnostics> explain(const pipeline& way, std::string_view name,
                                           std::string missing)
{
    const auto made = std::make_shared<diagnostics>();
    made->server = way.server();
    made->key = name;
    made->server_message = std::move(missing);
    return made;
}

/// Renewals that were answered, and wait for their replicas.
struct renewals_to_confirm
{
    std::shared_ptr<pipeline> way;
    std::vector<std::shared_ptr<unconfirmed>> locks; ///< Null: no confirmation needed.
    store::renew_handler handler;
    renew_reply reply;
    error_code failed;
    std::size_t outstanding = 0;

    void done_one()
    {
        if (--outstanding == 0)
            std::move(handler)(failed, std::move(reply));
    }
};

} // namespace

void acquire_confirmed(const std::shared_ptr<pipeline>& way,
                       const std::shared_ptr<replica_confirmations>& replicas,
                       const acquire_request& request, store::acquire_handler handler, bool asking)
{
    const auto lock = replicas->expect({.name = request.name,
                                        .owner = request.owner,
                                        .lease = request.lease,
                                        .entry = request.entry,
                                        .replica_acks = request.replica_acks,
                                        .replica_timeout = request.replica_timeout},
                                       asking);
    way->acquire(
        request,
        [way, replicas, lock, handler = std::move(handler)](error_code failed,
                                                            acquire_reply reply) mutable {
            if (failed || reply.result != acquire_reply::outcome::granted ||
                has(mutant::replicas_not_asked))
                return std::move(handler)(failed, std::move(reply));
            replicas->confirm(lock, [way, name = lock->name, handler = std::move(handler),
                                     reply = std::move(reply)](std::string missing) mutable {
                if (missing.empty())
                    return std::move(handler)(error_code(), std::move(reply));
                acquire_reply refused;
                refused.may_hold = true;
                refused.details = explain(*way, name, std::move(missing));
                std::move(handler)(errc::not_replicated, std::move(refused));
            });
        },
        asking);
}

void renew_confirmed(const std::shared_ptr<pipeline>& way,
                     const std::shared_ptr<replica_confirmations>& replicas,
                     std::span<const renewal> renewals, store::renew_handler handler, bool asking)
{
    const auto job = std::make_shared<renewals_to_confirm>();
    job->way = way;
    for (const renewal& each : renewals)
        job->locks.push_back(each.replica_acks > 0 ? replicas->expect(each, asking) : nullptr);
    job->handler = std::move(handler);
    way->renew(
        renewals,
        [job, replicas](error_code failed, renew_reply reply) {
            job->failed = failed;
            job->reply = std::move(reply);
            ++job->outstanding; // this handler, until it has started all confirmations
            for (std::size_t i = 0; !failed && i < job->reply.results.size(); ++i) {
                if (job->reply.results[i] != renewal_result::renewed || job->locks[i] == nullptr ||
                    has(mutant::renewals_not_replicated))
                    continue;
                ++job->outstanding;
                // The lock owns its handler, and the handler owns the job.
                const auto lock = std::exchange(job->locks[i], nullptr);
                replicas->confirm(lock, [job, i, name = lock->name](std::string missing) {
                    if (!missing.empty()) {
                        job->reply.results[i] = renewal_result::unconfirmed;
                        job->reply.details = explain(*job->way, name, std::move(missing));
                    }
                    job->done_one();
                });
            }
            job->done_one();
        },
        asking);
}

} // namespace leasehold::redis_store
