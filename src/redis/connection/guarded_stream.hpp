#ifndef LEASEHOLD_SRC_REDIS_CONNECTION_GUARDED_STREAM_HPP
#define LEASEHOLD_SRC_REDIS_CONNECTION_GUARDED_STREAM_HPP

#include "base/tls.hpp"
#include "redis/connection/connect_race.hpp"
#include "redis/connection/dialer.hpp"
#include "redis/connection/resp3_guard.hpp"
#include "redis/connection/settings.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancel_at.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/redis/connection.hpp>
#include <boost/redis/resp3/parser.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

// Boost.Redis offers no extension point between its socket and its parser, and none for the way a
// socket is connected. But its connection is a template on the executor, and so is its inner
// stream: this file specializes that stream for its own executor type. The stream tries all
// addresses of a host, reads the TLS files for each connection, knows why one fails, and passes all
// data that it reads through a guard. A Boost.Redis with a different structure does not compile
// here.

namespace leasehold::redis_store {

/// The executor itself, as a type that selects our stream for a connection.
template <class Executor>
class guarded_executor : public Executor
{
public:
    /// @param by Outlives the connection.
    guarded_executor(Executor plain, dialer& by) noexcept : Executor(std::move(plain)), by_(&by) {}

    [[nodiscard]] dialer& dials() const noexcept { return *by_; }

private:
    dialer* by_;
};

/// A connection of Boost.Redis that ends when the server sends bytes that its parser must not see.
template <class Executor>
using guarded_connection = boost::redis::basic_connection<guarded_executor<Executor>>;

/// The handler of a read, which gets only the bytes that the stream accepts.
template <class Stream, class Handler>
struct guarded_read
{
    Stream* stream;
    boost::asio::mutable_buffer buffer;
    Handler handler;

    void operator()(error_code error, std::size_t size)
    {
        const std::size_t accepted = stream->accept(buffer, size, error);
        std::move(handler)(error, accepted);
    }
};

} // namespace leasehold::redis_store

template <template <class, class> class Associator, class Stream, class Handler, class Default>
struct boost::asio::associator<Associator, leasehold::redis_store::guarded_read<Stream, Handler>,
                               Default> : Associator<Handler, Default>
{
    using read = leasehold::redis_store::guarded_read<Stream, Handler>;

    static auto get(const read& each) noexcept
    {
        return Associator<Handler, Default>::get(each.handler);
    }
    static auto get(const read& each, const Default& otherwise) noexcept
    {
        return Associator<Handler, Default>::get(each.handler, otherwise);
    }
};

namespace boost::redis::detail {

template <class Executor>
class redis_stream<leasehold::redis_store::guarded_executor<Executor>>
{
    using socket_type = asio::basic_stream_socket<asio::ip::tcp, Executor>;
    using results_type = asio::ip::tcp::resolver::results_type;

public:
    using executor_type = leasehold::redis_store::guarded_executor<Executor>;

    redis_stream(executor_type executor, asio::ssl::context&& tls)
        : executor_(executor),
          tls_(std::move(tls)),
          resolver_(plain()),
          stream_(plain(), tls_),
          local_(plain()),
          timer_(plain())
    {}

    executor_type get_executor() noexcept { return executor_; }
    void cancel_resolve() { resolver_.cancel(); }
    bool is_open() const { return local_.is_open() || stream_.next_layer().is_open(); }

    template <class CompletionToken>
    auto async_connect(const connect_params& where, buffered_logger&, CompletionToken&& token)
    {
        return asio::async_compose<CompletionToken, void(system::error_code)>(
            connect_op{*this, where}, token, timer_);
    }

    template <class Buffers, class CompletionToken>
    void async_write_some(const Buffers& buffers, CompletionToken&& token)
    {
        on_layer([&](auto& layer) {
            layer.async_write_some(buffers, std::forward<CompletionToken>(token));
        });
    }

    template <class CompletionToken>
    auto async_read_some(asio::mutable_buffer buffer, CompletionToken&& token)
    {
        return asio::async_initiate<CompletionToken, void(system::error_code, std::size_t)>(
            start_read{this}, token, buffer);
    }

    /// Returns the number of bytes that the parser may read. After a violation nothing is read. The
    /// parser still gets the bytes before it, so that the result does not depend on the pieces in
    /// which the bytes arrive.
    std::size_t accept(asio::mutable_buffer buffer, std::size_t size, system::error_code& error)
    {
        const std::size_t accepted = guard_.accept({static_cast<const char*>(buffer.data()), size});
        if (accepted == 0 && !error)
            error = guard_.violation();
        if (accepted != 0 && !std::exchange(answered_, true))
            dials().answered();
        return accepted;
    }

private:
    struct connect_op
    {
        redis_stream& stream;
        connect_params where;
        transport_type type = where.addr.type();
        bool begun = false;

        template <class Self>
        void operator()(Self& self, system::error_code failed = {})
        {
            // The members of this operation are gone when it has been moved into a handler.
            redis_stream& s = stream;
            const connect_params to = where;
            if (begun)
                return finish(self, failed);
            begun = true;
            s.close();
            s.type_ = type;
            if (type == transport_type::unix_socket) {
                s.dials().begin();
                return s.local_.async_connect(
                    to.addr.unix_socket(),
                    asio::cancel_after(s.timer_, to.connect_timeout, std::move(self)));
            }
            const address& at = s.dials().begin(to.addr.tcp_address());
            s.resolver_.async_resolve(
                at.host, at.port,
                asio::cancel_after(s.timer_, to.resolve_timeout, std::move(self)));
        }

        template <class Self>
        void operator()(Self& self, system::error_code failed, const results_type& found)
        {
            redis_stream& s = stream;
            if ((failed = reason(self, failed, error::resolve_timeout))) {
                s.dials().no_address(failed);
                return self.complete(failed);
            }
            auto addresses = s.dials().in_order(found);
            choices = addresses.size();
            const auto limit = where.connect_timeout;
            leasehold::redis_store::async_connect_race(s.plain(), std::move(addresses), limit,
                                                       std::move(self));
        }

        template <class Self>
        void operator()(Self& self, system::error_code failed, socket_type winner)
        {
            system::error_code unknown;
            failed = reason(self, failed, error::connect_timeout);
            const auto at = winner.remote_endpoint(unknown);
            if (!failed)
                failed = unknown; // it has ended already
            if (failed) {
                stream.dials().not_connected(failed);
                return self.complete(failed);
            }
            stream.dials().accepted(at, choices);
            if (type == transport_type::tcp) {
                stream.stream_.next_layer() = std::move(winner);
                return finish(self, {});
            }
            secure(self, std::move(winner));
        }

        template <class Self>
        void secure(Self& self, socket_type socket)
        {
            redis_stream& s = stream;
            const connect_params to = where;
            try {
                s.use_tls(std::move(socket), s.dials().host());
            }
            catch (const system::system_error& wrong) {
                // Read again with the next attempt: unlike at construction, it may succeed.
                s.dials().not_secured(wrong.what());
                return self.complete(leasehold::errc::store_unavailable);
            }
            const auto limit = s.dials().share(to.ssl_handshake_timeout);
            s.stream_.async_handshake(asio::ssl::stream_base::client,
                                      asio::cancel_after(s.timer_,
                                                         limit.value_or(to.ssl_handshake_timeout),
                                                         std::move(self)));
        }

        /// A local socket is connected, or the TLS handshake is complete.
        template <class Self>
        void finish(Self& self, system::error_code failed)
        {
            const bool tls = type == transport_type::tcp_tls;
            failed = reason(self, failed,
                            tls ? error::ssl_handshake_timeout : error::connect_timeout);
            if (failed && tls)
                stream.dials().not_secured(stream.why_not_secured(failed));
            else if (failed)
                stream.dials().not_connected(failed);
            else if (const auto share = stream.dials().share(where.connect_timeout))
                stream.answer_by_ = std::chrono::steady_clock::now() + *share;
            self.complete(failed);
        }

        /// An operation that was aborted without a cancellation took too long.
        template <class Self>
        static system::error_code reason(Self& self, system::error_code failed, error too_late)
        {
            const bool cancelled = self.get_cancellation_state().cancelled() !=
                                   asio::cancellation_type::none;
            if (cancelled)
                return asio::error::operation_aborted;
            return failed == asio::error::operation_aborted ? too_late : failed;
        }

        std::size_t choices = 0;
    };

    struct start_read
    {
        redis_stream* stream;

        using executor_type = redis_stream::executor_type;
        executor_type get_executor() const noexcept { return stream->get_executor(); }

        template <class Handler>
        void operator()(Handler&& handler, asio::mutable_buffer buffer)
        {
            using plain = std::decay_t<Handler>;
            if (const system::error_code why = stream->guard_.violation())
                return asio::post(get_executor(), asio::append(std::forward<Handler>(handler), why,
                                                               std::size_t(0)));
            leasehold::redis_store::guarded_read<redis_stream, plain> guarded{
                stream, buffer, std::forward<Handler>(handler)};
            stream->on_layer([&](auto& layer) {
                if (stream->answer_by_ && !stream->answered_)
                    layer.async_read_some(
                        buffer,
                        asio::cancel_at(stream->timer_, *stream->answer_by_, std::move(guarded)));
                else
                    layer.async_read_some(buffer, std::move(guarded));
            });
        }
    };

    leasehold::redis_store::dialer& dials() noexcept { return executor_.dials(); }
    const Executor& plain() const noexcept { return executor_; }

    template <class Use>
    void on_layer(Use use)
    {
        switch (type_) {
        case transport_type::tcp: return use(stream_.next_layer());
        case transport_type::tcp_tls: return use(stream_);
        case transport_type::unix_socket: return use(local_);
        }
    }

    void close()
    {
        system::error_code ignored;
        stream_.next_layer().close(ignored);
        local_.close(ignored);
        guard_.reset();
        answer_by_.reset();
        answered_ = false;
        other_host_ = false;
    }

    void use_tls(socket_type socket, const std::string& host)
    {
        tls_ = dials().tls();
        stream_ = asio::ssl::stream<socket_type>(std::move(socket), tls_);
        if (dials().verifies())
            stream_.set_verify_callback([this, is_named = asio::ssl::host_name_verification(host)](
                                            bool trusted, asio::ssl::verify_context& shown) {
                const bool accepted = is_named(trusted, shown);
                other_host_ = trusted && !accepted;
                return accepted;
            });
        leasehold::detail::ask_for_name(stream_.native_handle(), host);
    }

    std::string why_not_secured(system::error_code failed)
    {
        return leasehold::detail::tls_failure(stream_.native_handle(), failed, other_host_,
                                              dials().verifies());
    }

    const executor_type executor_;
    asio::ssl::context tls_; ///< Of the last connection.
    asio::ip::basic_resolver<asio::ip::tcp, Executor> resolver_;
    asio::ssl::stream<socket_type> stream_; ///< Only its socket is used without TLS.
    asio::basic_stream_socket<asio::local::stream_protocol, Executor> local_;
    typename asio::steady_timer::template rebind_executor<Executor>::other timer_;
    transport_type type_ = transport_type::tcp;
    bool other_host_ = false; ///< The certificate is trusted, but for another host.
    std::optional<std::chrono::steady_clock::time_point> answer_by_; ///< The first reply.
    bool answered_ = false;
    leasehold::redis_store::resp3_guard guard_;
};

} // namespace boost::redis::detail

namespace leasehold::redis_store {

// A Boost.Redis that would read without the guard does not compile.
static_assert(std::is_same_v<
              decltype(boost::redis::detail::connection_impl<
                       guarded_executor<boost::asio::any_io_executor>>::stream_),
              boost::redis::detail::redis_stream<guarded_executor<boost::asio::any_io_executor>>>);
static_assert(resp3_guard::max_depth <= boost::redis::resp3::parser::max_embedded_depth);

} // namespace leasehold::redis_store

#endif
