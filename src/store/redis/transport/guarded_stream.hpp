#ifndef LEASEHOLD_STORE_REDIS_TRANSPORT_GUARDED_STREAM_HPP
#define LEASEHOLD_STORE_REDIS_TRANSPORT_GUARDED_STREAM_HPP

#include "store/redis/transport/resp3_guard.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/redis/connection.hpp>
#include <boost/redis/resp3/parser.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

// Boost.Redis has no place between its socket and its parser that is meant for others. But its
// connection is a template on the executor, and so is the stream within: an executor of a type of
// our own has a specialisation of that stream, which is the original one except that what it has
// read passes a guard. A version of Boost.Redis that is built in another way does not compile here.

namespace leasehold::redis_store {

/// The executor itself, under a type by which a connection has a guarded stream.
template <class Executor>
class guarded_executor : public Executor
{
public:
    guarded_executor(Executor plain) noexcept : Executor(std::move(plain)) {}
};

/// A connection of Boost.Redis that ends when the server sends what its parser must not see.
template <class Executor>
using guarded_connection = boost::redis::basic_connection<guarded_executor<Executor>>;

/// The handler of a read, told only of the bytes that the stream accepts.
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

namespace boost::redis::detail {

template <class Executor>
class redis_stream<leasehold::redis_store::guarded_executor<Executor>>
    : private redis_stream<Executor>
{
    using base = redis_stream<Executor>;

public:
    using executor_type = leasehold::redis_store::guarded_executor<Executor>;

    redis_stream(executor_type executor, asio::ssl::context&& tls)
        : base(std::move(executor), std::move(tls))
    {}

    executor_type get_executor() noexcept { return base::get_executor(); }

    // All that goes on as it is. What reads in a way that is not known here is not among it.
    using base::async_write_some;
    using base::cancel_resolve;
    using base::is_open;

    template <class CompletionToken>
    auto async_connect(const connect_params& where, buffered_logger& log, CompletionToken&& token)
    {
        guard_.reset();
        return base::async_connect(where, log, std::forward<CompletionToken>(token));
    }

    template <class CompletionToken>
    auto async_read_some(asio::mutable_buffer buffer, CompletionToken&& token)
    {
        return asio::async_initiate<CompletionToken, void(system::error_code, std::size_t)>(
            start_read{this}, token, buffer);
    }

    /// How many of the bytes that were read may be seen. What comes behind a violation is not read
    /// any more, but what came before it is handed on, so that the same bytes have the same effect
    /// in whatever pieces they come.
    std::size_t accept(asio::mutable_buffer buffer, std::size_t size, system::error_code& error)
    {
        const std::size_t accepted = guard_.accept({static_cast<const char*>(buffer.data()), size});
        if (accepted == 0 && !error)
            error = guard_.violation();
        return accepted;
    }

private:
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
            stream->base::async_read_some(buffer,
                                          leasehold::redis_store::guarded_read<redis_stream, plain>{
                                              stream, buffer, std::forward<Handler>(handler)});
        }
    };

    leasehold::redis_store::resp3_guard guard_;
};

} // namespace boost::redis::detail

namespace leasehold::redis_store {

// A Boost.Redis that would read without the guard is not compiled.
static_assert(std::is_same_v<
              decltype(boost::redis::detail::connection_impl<
                       guarded_executor<boost::asio::any_io_executor>>::stream_),
              boost::redis::detail::redis_stream<guarded_executor<boost::asio::any_io_executor>>>);
static_assert(resp3_guard::max_depth <= boost::redis::resp3::parser::max_embedded_depth);

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

#endif
