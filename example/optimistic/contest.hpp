#ifndef LEASEHOLD_EXAMPLE_OPTIMISTIC_CONTEST_HPP
#define LEASEHOLD_EXAMPLE_OPTIMISTIC_CONTEST_HPP

#include "optimistic/method.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>

namespace example {

/// The traders, and the items that they sell.
struct market
{
    int items;
    int stock; ///< Of each item.
    int traders;
    std::chrono::milliseconds think; ///< Between reading and writing.
    int slow_every; ///< One sale out of this many takes six times as long; 0: none.
};

/// The result of a contest.
struct verdict
{
    int sold = 0;
    int conflicts = 0;
    int most_retries = 0; ///< For one sale.
    std::chrono::duration<double> took{};
};

/// Opens the stock, runs all traders until nothing is left, and closes it.
boost::asio::awaitable<verdict> hold_contest(boost::asio::io_context& context, method& tried,
                                             market on);

} // namespace example

#endif
