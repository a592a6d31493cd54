#ifndef LEASEHOLD_SRC_REDIS_CONNECTION_CONNECTION_HPP
#define LEASEHOLD_SRC_REDIS_CONNECTION_CONNECTION_HPP

#include <leasehold/error.hpp>
#include <leasehold/redis_config.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/redis/adapter/any_adapter.hpp>
#include <boost/redis/config.hpp>
#include <boost/redis/operation.hpp>
#include <boost/redis/request.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold::redis_store {

namespace asio = boost::asio;

/// Executes requests: a Boost.Redis connection with any executor. Its handlers run where the
/// connection does.
class request_channel
{
public:
    using executed = asio::any_completion_handler<void(error_code, std::size_t)>;

    virtual ~request_channel() = default;

    virtual void execute(const boost::redis::request& request, boost::redis::any_adapter adapter,
                         asio::cancellation_slot slot, executed done) = 0;
    [[nodiscard]] virtual std::size_t commands_sent() const = 0;
};

/// Executes a request. `done(error_code, bool written)` keeps the channel. If `written` is false,
/// no byte of the request was sent.
template <class Done>
void execute(request_channel& channel, const boost::redis::request& request,
             boost::redis::any_adapter adapter, asio::cancellation_slot slot, Done done)
{
    const std::size_t before = channel.commands_sent();
    // The writer takes all waiting requests at once: if it has taken none, it has not taken this
    // one.
    channel.execute(
        request, std::move(adapter), slot,
        [&channel, before, done = std::move(done)](error_code error, std::size_t) mutable {
            done(error, channel.commands_sent() != before);
        });
}

/// The interface of a connection of the library's own.
class connection : public request_channel
{
public:
    using ended = asio::any_completion_handler<void(error_code)>;
    /// Called with the text of each error that a connection would log.
    using complaint = std::function<void(std::string_view text)>;

    virtual void run(const boost::redis::config& settings, ended done) = 0;
    virtual void set_receive_response(boost::redis::any_adapter adapter) = 0;
    virtual void receive(ended done) = 0;
    virtual void cancel(boost::redis::operation operation) = 0;
    /// The reason why the last run ended with this error, as text. Empty: unknown.
    [[nodiscard]] virtual std::string trouble(error_code why) const
    {
        static_cast<void>(why);
        return {};
    }
};

/// A connection on a strand.
std::unique_ptr<connection> make_connection(const asio::any_io_executor& strand,
                                            const redis_config& settings,
                                            connection::complaint complain);

} // namespace leasehold::redis_store

#endif
