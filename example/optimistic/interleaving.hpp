#ifndef LEASEHOLD_EXAMPLE_OPTIMISTIC_INTERLEAVING_HPP
#define LEASEHOLD_EXAMPLE_OPTIMISTIC_INTERLEAVING_HPP

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <string>

namespace example {

/// Three processes with the GETSET lock, step by step, at fixed times: the last unit is sold more
/// than once. Prints each step.
/// @return The number of oversold units, which is always the same.
boost::asio::awaitable<int> break_getset_lock(boost::asio::io_context& context, std::string url);

/// The same steps with a fence for each process: the data rejects a late write.
boost::asio::awaitable<int> keep_by_fence(boost::asio::io_context& context, std::string url);

} // namespace example

#endif
