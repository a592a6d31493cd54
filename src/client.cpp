#include <leasehold/client.hpp>

#include "base/argument_error.hpp"
#include "core/client_state.hpp"

#include <utility>

namespace leasehold {
namespace detail {

void start_run(bound_handler<void(error_code)>&& handler, client_state_ptr client)
{
    if (client->gone())
        return;
    client->run(std::move(handler));
}

void start_shutdown(bound_handler<void(error_code)>&& handler, client_state_ptr client)
{
    if (client->gone())
        return;
    client->shutdown(std::move(handler));
}

const asio::any_io_executor& executor_of(const client_state_ptr& client) noexcept
{
    return client->handler_executor();
}

} // namespace detail

client::client(asio::any_io_executor executor, std::shared_ptr<store> store,
               std::shared_ptr<observer> observer)
{
    if (!store)
        detail::throw_argument_error(errc::invalid_option, "store", "null", "a store");
    state_ = detail::client_state::make(executor, std::move(store), std::move(observer),
                                        detail::make_system_time());
}

client::~client()
{
    state_->cancel();
}

void client::cancel() noexcept
{
    state_->cancel();
}

std::string client::id() const
{
    return state_->id();
}

client_stats client::stats() const noexcept
{
    return state_->stats();
}

asio::any_io_executor client::get_executor() const noexcept
{
    return detail::executor_of(state_);
}

} // namespace leasehold
