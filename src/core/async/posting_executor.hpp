#ifndef LEASEHOLD_SRC_CORE_ASYNC_POSTING_EXECUTOR_HPP
#define LEASEHOLD_SRC_CORE_ASYNC_POSTING_EXECUTOR_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/relationship.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/require.hpp>

namespace leasehold::detail {

namespace asio = boost::asio;

/// An executor whose `execute` does what `asio::post` does. Made once and kept, it saves two erased
/// copies of the executor on the heap for each post.
inline asio::any_io_executor posting_executor(const asio::any_io_executor& executor)
{
    return asio::prefer(asio::require(executor, asio::execution::blocking.never),
                        asio::execution::relationship.fork);
}

} // namespace leasehold::detail

#endif
