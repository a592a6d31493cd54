#include "store/redis/confirmed_requests.hpp"

#include <algorithm>
#include <cstddef>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::redis_store {
namespace {

/// What is remembered of a renewal until it was confirmed.
struct kept_lock
{
    explicit kept_lock(const renewal& from)
        : name(from.name),
          owner(from.owner),
          entry(from.entry),
          acks(from.replica_acks),
          timeout(from.replica_timeout)
    {}

    [[nodiscard]] renewal view() const noexcept
    {
        return {.name = name,
                .owner = owner,
                .lease = {},
                .entry = entry,
                .replica_acks = acks,
                .replica_timeout = timeout};
    }

    std::string name, owner, entry;
    std::uint32_t acks;
    std::chrono::milliseconds timeout;
};

std::shared_ptr<const diagnostics> explain(const pipeline& way, std::string_view name,
                                           std::string missing)
{
    const auto made = std::make_shared<diagnostics>();
    made->server = way.server();
    made->key = name;
    made->server_message = std::move(missing);
    return made;
}

/// `done` is called later, also where there is no memory to ask.
template <class Done>
void ask(replica_confirmation& replicas, const renewal& held, Done done)
{
    replica_confirmation::handler handler(std::move(done));
    try {
        replicas.confirm(held, handler);
    }
    catch (const std::bad_alloc&) {
        std::move(handler)("no memory");
    }
}

/// Renewals that were answered, and wait for their replicas.
struct renewals_to_confirm
{
    std::shared_ptr<pipeline> way;
    std::vector<kept_lock> locks;
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
                       const std::shared_ptr<replica_confirmation>& replicas,
                       const acquire_request& request, store::acquire_handler handler)
{
    const kept_lock lock({.name = request.name,
                          .owner = request.owner,
                          .lease = {},
                          .entry = request.entry,
                          .replica_acks = request.replica_acks,
                          .replica_timeout = request.replica_timeout});
    way->acquire(request, [way, replicas, lock, handler = std::move(handler)](
                              error_code failed, acquire_reply reply) mutable {
        if (failed || reply.result != acquire_reply::outcome::granted)
            return std::move(handler)(failed, std::move(reply));
        const renewal granted = lock.view();
        ask(*replicas, granted,
            [way, name = lock.name, handler = std::move(handler),
             reply = std::move(reply)](const std::string& missing) mutable {
                if (missing.empty())
                    return std::move(handler)(error_code(), std::move(reply));
                acquire_reply refused;
                refused.may_hold = true;
                refused.details = explain(*way, name, missing);
                std::move(handler)(errc::not_replicated, std::move(refused));
            });
    });
}

void renew_confirmed(const std::shared_ptr<pipeline>& way,
                     const std::shared_ptr<replica_confirmation>& replicas,
                     std::span<const renewal> renewals, store::renew_handler handler)
{
    const auto job = std::make_shared<renewals_to_confirm>();
    job->way = way;
    job->locks = std::vector<kept_lock>(renewals.begin(), renewals.end());
    job->handler = std::move(handler);
    way->renew(renewals, [job, replicas](error_code failed, renew_reply reply) {
        job->failed = failed;
        job->reply = std::move(reply);
        ++job->outstanding; // this one, until all were asked
        for (std::size_t i = 0; !failed && i < job->reply.results.size(); ++i) {
            const renewal each = job->locks[i].view();
            if (job->reply.results[i] != renewal_result::renewed || each.replica_acks == 0)
                continue;
            ++job->outstanding;
            ask(*replicas, each, [job, i](const std::string& missing) {
                if (!missing.empty()) {
                    job->reply.results[i] = renewal_result::unconfirmed;
                    job->reply.details = explain(*job->way, job->locks[i].name, missing);
                }
                job->done_one();
            });
        }
        job->done_one();
    });
}

} // namespace leasehold::redis_store
