#include <leasehold/mutex.hpp>

#include "base/argument_error.hpp"
#include "core/async/operation.hpp"
#include "core/client_state.hpp"
#include "core/turn/owner_id.hpp"

#include <leasehold/client.hpp>
#include <leasehold/detail/access.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace leasehold {
namespace detail {

namespace {

details_ptr name_of(const lock_spec& spec) noexcept
{
    try {
        const auto made = std::make_shared<diagnostics>();
        made->key = spec.name;
        return made;
    }
    catch (const std::bad_alloc&) {
        return nullptr;
    }
}

/// Makes an operation of the arguments, and calls `Begin` with it on the client's strand.
template <auto Begin, class Operation>
void start(lock_handler&& handler, spec_ptr&& spec, clock::duration limit)
{
    client_state& client = *spec->client;
    if (client.gone())
        return;
    if (const auto why = client.ready()) {
        details_ptr details = handler.explained ? name_of(*spec) : nullptr;
        return completion<error_code, lease>::immediate(
            std::move(handler), client.handler_executor(), why, lease(), std::move(details));
    }
    // Without a limit, the time of the turn is enough.
    const auto now = limit == clock::duration::max() ? clock::time_point() : client.now();
    boost::intrusive_ptr<Operation> op(
        new Operation(std::move(handler), std::move(spec), limit, now));
    cancel_by_slot(client, op);
    client.carry([going = posted_op(std::move(op)), &client]() mutable {
        going.arrive(client, [&](const auto& arrived) { (client.*Begin)(*arrived); });
    });
}

} // namespace

void start_lock(lock_handler&& handler, spec_ptr spec, clock::duration limit)
{
    if (spec->under)
        return start<&client_state::reenter, reentry_op>(std::move(handler), std::move(spec),
                                                         limit);
    start<&client_state::lock, lock_op>(std::move(handler), std::move(spec), limit);
}

const asio::any_io_executor& executor_of(const spec_ptr& lock) noexcept
{
    return lock->client->handler_executor();
}

const asio::any_io_executor& inner_executor_of(const spec_ptr& lock) noexcept
{
    return lock->client->inner_executor();
}

clock::duration wait_limit(const lock_spec& spec) noexcept
{
    return saturated(spec.options.wait_limit);
}

clock::duration until(const lock_spec& spec, clock::time_point when) noexcept
{
    if (when == clock::time_point::max())
        return clock::duration::max();
    const auto now = spec.client->now();
    return when <= now ? clock::duration::zero() : when - now;
}

} // namespace detail

namespace {

/// The options as the store applies them: TTLs are multiples of its grain.
lock_options fitted(lock_options options, const store_traits& can)
{
    if (options.lease_time < can.smallest_lease)
        detail::throw_argument_error(
            errc::not_supported, "lease_time", std::to_string(options.lease_time.count()) + " ms",
            "at least " + std::to_string(can.smallest_lease.count()) + " ms in this store");
    if (options.replica_acks > 0 && !can.replica_acks)
        detail::throw_argument_error(errc::not_supported, "replica_acks",
                                     std::to_string(options.replica_acks), "0 in this store");
    if (options.dead_holder_grace.count() > 0 && !can.dead_holder_grace)
        detail::throw_argument_error(errc::not_supported, "dead_holder_grace",
                                     std::to_string(options.dead_holder_grace.count()) + " ms",
                                     "0 in this store");
    if (const auto over = options.lease_time % can.grain; over.count() != 0)
        options.lease_time += can.grain - over;
    return options;
}

} // namespace

mutex::mutex(const client& locks, std::string_view name, const lock_options& options)
{
    const detail::client_state_ptr& state = detail::access::state_of(locks);
    const std::size_t longest = state->traits().longest_name;
    if (name.empty() || name.size() > longest)
        detail::throw_argument_error(errc::invalid_name, "name",
                                     name.empty() ? "it is empty"
                                                  : std::to_string(name.size()) + " bytes",
                                     "1 to " + std::to_string(longest) + " bytes");
    // Such a name could be a key of another lock, for example its fence counter.
    for (const std::string_view reserved : {"leasehold:", "redisson_lock_token:"})
        if (name.starts_with(reserved))
            detail::throw_argument_error(errc::invalid_name, "name",
                                         '\'' + std::string(name) + '\'',
                                         "any that does not begin with " + std::string(reserved));
    options.validate();
    spec_ = std::make_shared<const detail::lock_spec>(state, std::string(name),
                                                      fitted(options, state->traits()));
}

const std::string& mutex::name() const noexcept
{
    return spec_->name;
}

const lock_options& mutex::options() const noexcept
{
    return spec_->options;
}

asio::any_io_executor mutex::get_executor() const noexcept
{
    return detail::executor_of(spec_);
}

mutex mutex::with_owner(owner under) const
{
    constexpr std::size_t longest = detail::owner_id::static_capacity;
    if (under.empty() || under.id().size() > longest)
        detail::throw_argument_error(
            errc::invalid_option, "owner",
            under.empty() ? "it is empty"
                          : "an identity of " + std::to_string(under.id().size()) + " bytes",
            "the owner of a lease, whose identity has 1 to " + std::to_string(longest) + " bytes");
    mutex made(*this);
    made.spec_ = std::make_shared<const detail::lock_spec>(*spec_, std::move(under));
    return made;
}

} // namespace leasehold
