#include "support/fake_store.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <stdexcept>
#include <utility>

namespace leasehold::test {
namespace {

template <class Strand>
bool off(const asio::any_io_executor& executor)
{
    const Strand* strand = executor.target<Strand>();
    return strand != nullptr && !strand->running_in_this_thread();
}

// Detected only for the usual strands. Others are accepted.
bool off_the_strand(const asio::any_io_executor& executor)
{
    return off<asio::strand<asio::io_context::executor_type>>(executor) ||
           off<asio::strand<asio::any_io_executor>>(executor) ||
           off<asio::strand<asio::thread_pool::executor_type>>(executor);
}

template <class Calls>
auto copies(const Calls& from)
{
    std::vector<decltype(from.front().call)> all;
    for (const auto& each : from)
        all.push_back(each.call);
    return all;
}

template <class Calls>
std::size_t waiting(const Calls& among)
{
    std::size_t count = 0;
    for (const auto& each : among)
        count += each.call.answered ? 0 : 1;
    return count;
}

fake_store::acquire_call recorded(const acquire_request& request)
{
    return {.name = std::string(request.name),
            .owner = std::string(request.owner),
            .entry = std::string(request.entry),
            .lease = request.lease,
            .fences = request.fences,
            .budget = request.budget,
            .needs_holder = request.needs_holder,
            .again = request.again,
            .waits = request.waits,
            .presence = request.presence,
            .claim = request.claim,
            .replica_acks = request.replica_acks,
            .replica_timeout = request.replica_timeout,
            .dead_holder_grace = request.dead_holder_grace};
}

} // namespace

void fake_store::open(const asio::any_io_executor& strand, store_listener& listener)
{
    asio::use_service<detail::context_lifetime>(asio::query(strand, asio::execution::context))
        .add(shared_from_this());
    const std::lock_guard lock(mutex_);
    if (std::exchange(opened_, true))
        misuse_ += "open twice; ";
    strand_ = strand;
    listener_ = &listener;
}

void fake_store::close()
{
    const std::lock_guard lock(mutex_);
    check_call("close");
    closed_ = true;
    listener_ = nullptr;
    if (keep_at_close_)
        return;
    complete_rest(acquires_, errc::outcome_unknown, acquire_reply{});
    complete_rest(renewals_, errc::outcome_unknown, renew_reply());
    complete_rest(releases_, errc::outcome_unknown, release_reply{});
    complete_rest(heartbeats_, errc::outcome_unknown, false);
}

void fake_store::async_acquire(const acquire_request& request, acquire_handler handler)
{
    const std::lock_guard lock(mutex_);
    check_call("async_acquire");
    if (request.name.empty() || request.owner.empty() || request.lease.count() <= 0 ||
        request.fences == 0)
        misuse_ += "async_acquire with values out of range; ";
    add(acquires_, recorded(request), std::move(handler), acquire_reply{});
}

void fake_store::async_renew(std::span<const renewal> renewals, renew_handler handler)
{
    const std::lock_guard lock(mutex_);
    check_call("async_renew");
    renew_call call;
    for (const renewal& each : renewals)
        call.locks.push_back({std::string(each.name), std::string(each.owner), each.lease,
                              std::string(each.entry), each.replica_acks, each.replica_timeout});
    add(renewals_, std::move(call), std::move(handler), renew_reply());
}

void fake_store::async_release(const release_request& request, release_handler handler)
{
    const std::lock_guard lock(mutex_);
    check_call("async_release");
    if (on_release)
        on_release();
    release_call call{std::string(request.name), std::string(request.owner),
                      std::string(request.entry)};
    call.external_time = request.external_time;
    if (request.next != nullptr)
        call.next = recorded(*request.next);
    add(releases_, std::move(call), std::move(handler), release_reply{});
}

void fake_store::async_describe(std::string_view holder, describe_handler handler)
{
    const std::lock_guard lock(mutex_);
    check_call("async_describe");
    described_.emplace_back(holder, std::move(handler));
}

void fake_store::async_heartbeat(std::string_view client, heartbeat_handler handler)
{
    const std::lock_guard lock(mutex_);
    check_call("async_alive");
    if (!can.dead_holder_grace)
        misuse_ += "async_alive of a store without; ";
    add(heartbeats_, alive_call{std::string(client)}, std::move(handler), false);
}

bool fake_store::async_drain(drain_handler handler)
{
    const std::lock_guard lock(mutex_);
    check_call("async_drain");
    ++drains_count;
    if (drains)
        drain_ = std::move(handler);
    return drains;
}

void fake_store::watch(std::string_view name)
{
    const std::lock_guard lock(mutex_);
    check_call("watch");
    watches_.push_back({true, std::string(name)});
    watched_.emplace(name);
}

void fake_store::unwatch(std::string_view name)
{
    const std::lock_guard lock(mutex_);
    check_call("unwatch");
    watches_.push_back({false, std::string(name)});
    watched_.erase(std::string(name));
}

std::vector<fake_store::acquire_call> fake_store::acquires() const
{
    const std::lock_guard lock(mutex_);
    return copies(acquires_);
}

std::vector<fake_store::renew_call> fake_store::renewals() const
{
    const std::lock_guard lock(mutex_);
    return copies(renewals_);
}

std::vector<fake_store::release_call> fake_store::releases() const
{
    const std::lock_guard lock(mutex_);
    return copies(releases_);
}

std::vector<fake_store::alive_call> fake_store::heartbeats() const
{
    const std::lock_guard lock(mutex_);
    return copies(heartbeats_);
}

std::vector<std::string> fake_store::described() const
{
    const std::lock_guard lock(mutex_);
    std::vector<std::string> holders;
    for (const auto& each : described_)
        holders.push_back(each.first);
    return holders;
}

std::vector<fake_store::watch_call> fake_store::watches() const
{
    const std::lock_guard lock(mutex_);
    return watches_;
}

std::set<std::string, std::less<>> fake_store::watched() const
{
    const std::lock_guard lock(mutex_);
    return watched_;
}

std::size_t fake_store::acquire_count() const
{
    const std::lock_guard lock(mutex_);
    return acquires_.size();
}

std::size_t fake_store::renew_count() const
{
    const std::lock_guard lock(mutex_);
    return renewals_.size();
}

std::size_t fake_store::release_count() const
{
    const std::lock_guard lock(mutex_);
    return releases_.size();
}

std::size_t fake_store::pending() const
{
    const std::lock_guard lock(mutex_);
    return waiting(acquires_) + waiting(renewals_) + waiting(releases_) + waiting(heartbeats_);
}

bool fake_store::is_open() const
{
    const std::lock_guard lock(mutex_);
    return opened_ && !closed_;
}

bool fake_store::is_closed() const
{
    const std::lock_guard lock(mutex_);
    return closed_;
}

std::string fake_store::misuse() const
{
    const std::lock_guard lock(mutex_);
    return misuse_;
}

void fake_store::complete_acquire(std::size_t index, error_code code, acquire_reply reply)
{
    const std::lock_guard lock(mutex_);
    complete(acquires_, index, code, reply);
}

void fake_store::complete_renew(std::size_t index, error_code code, renew_reply reply)
{
    const std::lock_guard lock(mutex_);
    complete(renewals_, index, code, std::move(reply));
}

void fake_store::complete_release(std::size_t index, error_code code, release_reply reply)
{
    const std::lock_guard lock(mutex_);
    complete(releases_, index, code, reply);
}

void fake_store::complete_alive(std::size_t index, error_code code, bool known)
{
    const std::lock_guard lock(mutex_);
    complete(heartbeats_, index, code, known);
}

void fake_store::describe(client_info said)
{
    const std::lock_guard lock(mutex_);
    if (described_.empty() || !described_.back().second)
        throw std::logic_error("fake_store: no description was requested");
    asio::post(strand_,
               [handler = std::move(described_.back().second), said = std::move(said)]() mutable {
                   std::move(handler)(std::move(said));
               });
}

void fake_store::drained()
{
    const std::lock_guard lock(mutex_);
    if (!drain_)
        throw std::logic_error("fake_store: no operation waits for the drain");
    asio::post(strand_, std::exchange(drain_, nullptr));
}

void fake_store::grant(std::size_t index, std::uint64_t first_fence, std::uint32_t fences)
{
    complete_acquire(index, {},
                     {.result = acquire_reply::outcome::granted,
                      .fences = fences,
                      .first_fence = first_fence,
                      .remaining = {}});
}

void fake_store::say_held(std::size_t index, milliseconds remaining)
{
    complete_acquire(index, {}, {.result = acquire_reply::outcome::held, .remaining = remaining});
}

void fake_store::renew_all(std::size_t index, renewal_result result)
{
    const std::lock_guard lock(mutex_);
    const std::size_t count = index < renewals_.size() ? renewals_[index].call.locks.size() : 0;
    complete(renewals_, index, {}, renew_reply({count, result}));
}

void fake_store::say_freed(std::size_t index, std::uint64_t receivers)
{
    complete_release(index, {}, {.result = release_reply::outcome::freed, .receivers = receivers});
}

void fake_store::wakeup(std::string name)
{
    notify([name = std::move(name)](store_listener& listener) { listener.on_wakeup(name); });
}

void fake_store::listen()
{
    notify([](store_listener& listener) { listener.on_listening(0); });
}

void fake_store::notify_grant(std::string name, std::string owner)
{
    notify([name = std::move(name), owner = std::move(owner)](store_listener& listener) {
        listener.on_grant(name, owner);
    });
}

void fake_store::remove(std::string name, std::string owner)
{
    notify([name = std::move(name), owner = std::move(owner)](store_listener& listener) {
        listener.on_gone(name, owner);
    });
}

void fake_store::settle(store_partition partition)
{
    notify([partition](store_listener& listener) { listener.on_settled(partition); });
}

void fake_store::connect(store_partition partition)
{
    notify([partition](store_listener& listener) { listener.on_connected(partition); });
}

void fake_store::disconnect(error_code why, store_partition partition)
{
    notify(
        [partition, why](store_listener& listener) { listener.on_disconnected(partition, why); });
}

void fake_store::explain(error_code code, diagnostics details, store_partition partition)
{
    notify([=](store_listener& listener) { listener.on_error(partition, code, details); });
}

void fake_store::move(std::string name, store_partition to)
{
    const std::lock_guard lock(mutex_);
    moved_[std::move(name)] = to;
}

store_partition fake_store::partition_of(std::string_view name) const noexcept
{
    const std::lock_guard lock(mutex_);
    if (const auto found = moved_.find(name); found != moved_.end())
        return found->second;
    if (!split_ || name.size() < 2 || name[1] != ':')
        return 0;
    return name[0] == '1' ? 1 : name[0] == '2' ? 2 : 0;
}

void fake_store::keep_at_close()
{
    const std::lock_guard lock(mutex_);
    keep_at_close_ = true;
}

void fake_store::on_context_end() noexcept
{
    // Handlers may refer to the context. They are destroyed with it, and without the mutex, because
    // their destructors may call back.
    calls<acquire_call, acquire_handler> acquires;
    calls<renew_call, renew_handler> renewals;
    calls<release_call, release_handler> releases;
    calls<alive_call, heartbeat_handler> heartbeats;
    decltype(described_) described;
    drain_handler drain;
    const std::lock_guard lock(mutex_);
    listener_ = nullptr;
    strand_ = {};
    acquires.swap(acquires_);
    renewals.swap(renewals_);
    releases.swap(releases_);
    heartbeats.swap(heartbeats_);
    described.swap(described_);
    drain.swap(drain_);
}

void fake_store::check_call(const char* function)
{
    if (!opened_)
        misuse_ += std::string(function) + " before open; ";
    if (strand_ && off_the_strand(strand_))
        misuse_ += std::string(function) + " off the strand; ";
}

template <class Calls, class Reply>
void fake_store::complete(Calls& all, std::size_t index, error_code code, Reply reply)
{
    if (index >= all.size() || std::exchange(all[index].call.answered, true))
        throw std::logic_error("fake_store: there is no call with this index to answer");
    post(std::move(all[index].handler), code, std::move(reply));
}

template <class Calls, class Call, class Handler, class Reply>
void fake_store::add(Calls& all, Call call, Handler handler, Reply empty)
{
    all.push_back({std::move(call), std::move(handler)});
    if (closed_ && !keep_at_close_)
        complete(all, all.size() - 1, errc::store_unavailable, std::move(empty));
}

template <class Calls, class Reply>
void fake_store::complete_rest(Calls& all, error_code code, Reply reply)
{
    for (std::size_t i = 0; i < all.size(); ++i)
        if (!all[i].call.answered)
            complete(all, i, code, reply);
}

template <class Handler, class Reply>
void fake_store::post(Handler handler, error_code code, Reply reply)
{
    if (!strand_)
        return;
    asio::post(strand_, [handler = std::move(handler), code, reply = std::move(reply)]() mutable {
        std::move(handler)(code, std::move(reply));
    });
}

template <class Tell>
void fake_store::notify(Tell event)
{
    const std::lock_guard lock(mutex_);
    if (!strand_)
        return;
    asio::post(strand_, [self = shared_from_this(), event = std::move(event)] {
        store_listener* listener = nullptr;
        {
            const std::lock_guard inner(self->mutex_);
            listener = self->listener_;
        }
        if (listener != nullptr)
            event(*listener);
    });
}

} // namespace leasehold::test
