#ifndef LEASEHOLD_SRC_REDIS_CONNECTION_CONNECT_RACE_HPP
#define LEASEHOLD_SRC_REDIS_CONNECTION_CONNECT_RACE_HPP

#include <leasehold/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace leasehold::redis_store {

namespace asio = boost::asio;

/// Connects to the first of several addresses that accepts, as RFC 8305 describes: the next address
/// is tried 250 ms after the one before, or as soon as that one has failed, and the earlier
/// attempts continue. With many addresses the steps are shorter, so that each is tried within the
/// limit. All on the executor, which must be a strand.
template <class Executor>
class connect_race final : public std::enable_shared_from_this<connect_race<Executor>>
{
public:
    using endpoint = asio::ip::tcp::endpoint;
    using socket_type = asio::basic_stream_socket<asio::ip::tcp, Executor>;
    /// `asio::error::operation_aborted`: cancelled, or the limit has passed.
    using handler_type = asio::any_completion_handler<void(error_code, socket_type)>;

    connect_race(const Executor& executor, std::vector<endpoint> addresses,
                 std::chrono::steady_clock::duration limit, handler_type done)
        : executor_(executor),
          addresses_(std::move(addresses)),
          step_(std::min<std::chrono::steady_clock::duration>(
              usual_step, limit / static_cast<int>(std::max<std::size_t>(addresses_.size(), 1)))),
          next_step_(executor),
          limit_(executor, limit),
          done_(std::move(done))
    {}

    /// @pre There is an address.
    void start()
    {
        const auto self = this->shared_from_this();
        auto slot = asio::get_associated_cancellation_slot(done_);
        if (slot.is_connected())
            slot.assign([weak = std::weak_ptr(self)](asio::cancellation_type type) {
                const auto running = weak.lock();
                if (running && type != asio::cancellation_type::none)
                    running->stop();
            });
        limit_.async_wait([self](error_code failed) {
            if (!failed)
                self->stop();
        });
        try_next();
    }

private:
    static constexpr std::chrono::milliseconds usual_step{250};

    void try_next()
    {
        const auto self = this->shared_from_this();
        socket_type& tried = sockets_.emplace_back(executor_);
        ++under_way_;
        tried.async_connect(addresses_[next_++],
                            [self, &tried](error_code failed) { self->on_end(tried, failed); });
        if (next_ == addresses_.size())
            return;
        next_step_.expires_after(step_);
        next_step_.async_wait([self](error_code failed) {
            // A failure may have started the next one while this call was queued.
            if (!failed && !self->over_ && self->next_ < self->addresses_.size())
                self->try_next();
        });
    }

    void on_end(socket_type& tried, error_code failed)
    {
        --under_way_;
        if (!done_)
            return;
        if (!failed && !over_) {
            socket_type winner = std::move(tried);
            stop();
            return complete({}, std::move(winner));
        }
        if (!over_)
            last_error_ = failed;
        if (!over_ && next_ < addresses_.size())
            return try_next();
        if (under_way_ == 0)
            complete(last_error_, socket_type(executor_));
    }

    /// Ends the outstanding attempts. If no attempt has won, the last to end completes.
    void stop()
    {
        if (std::exchange(over_, true))
            return;
        last_error_ = asio::error::operation_aborted;
        next_step_.cancel();
        limit_.cancel();
        error_code ignored;
        for (socket_type& each : sockets_)
            each.close(ignored);
    }

    void complete(error_code failed, socket_type socket)
    {
        over_ = true;
        next_step_.cancel();
        limit_.cancel();
        asio::dispatch(asio::append(std::exchange(done_, nullptr), failed, std::move(socket)));
    }

    const Executor executor_;
    const std::vector<endpoint> addresses_;
    const std::chrono::steady_clock::duration step_;
    using timer_type = typename asio::steady_timer::template rebind_executor<Executor>::other;
    timer_type next_step_;
    timer_type limit_;
    handler_type done_; ///< Empty after its call.
    std::deque<socket_type> sockets_;
    std::size_t next_ = 0;
    std::size_t under_way_ = 0;
    bool over_ = false; ///< No further address is tried.
    error_code last_error_;
};

/// Completes with `void(error_code, socket)`; see `connect_race`.
template <class Executor, class Token>
auto async_connect_race(const Executor& executor, std::vector<asio::ip::tcp::endpoint> addresses,
                        std::chrono::steady_clock::duration limit, Token&& token)
{
    using race = connect_race<Executor>;
    return asio::async_initiate<Token, void(error_code, typename race::socket_type)>(
        [](auto handler, const Executor& on, std::vector<asio::ip::tcp::endpoint> all,
           std::chrono::steady_clock::duration within) {
            std::make_shared<race>(on, std::move(all), within, std::move(handler))->start();
        },
        token, executor, std::move(addresses), limit);
}

} // namespace leasehold::redis_store

#endif
