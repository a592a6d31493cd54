#ifndef LEASEHOLD_EXAMPLE_OPTIMISTIC_METHOD_HPP
#define LEASEHOLD_EXAMPLE_OPTIMISTIC_METHOD_HPP

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>
#include <string>

namespace example {

/// The result of one attempt to sell a unit.
enum class outcome
{
    sold,
    conflict, ///< Another trader wrote in between; nothing was written.
    none_left,
};

/// The time between reading and writing, for example for a request to a bank.
using thinking = std::function<boost::asio::awaitable<void>()>;

/// A seller that, like a separate process, shares only the data with the others.
class trader
{
public:
    trader() = default;
    trader(const trader&) = delete;
    trader& operator=(const trader&) = delete;
    virtual ~trader() = default;

    /// Reads the stock, waits for `think`, and writes one unit less.
    virtual boost::asio::awaitable<outcome> try_to_sell(int item, const thinking& think) = 0;

    /// Ends the background work.
    virtual boost::asio::awaitable<void> close() { co_return; }
};

/// A method that prevents conflicting writes of concurrent traders.
class method
{
public:
    method() = default;
    method(const method&) = delete;
    method& operator=(const method&) = delete;
    virtual ~method() = default;

    [[nodiscard]] virtual std::string name() const = 0;
    /// Whether it never oversells.
    [[nodiscard]] virtual bool correct() const { return true; }

    virtual boost::asio::awaitable<void> open(int items, int stock) = 0;
    [[nodiscard]] virtual std::unique_ptr<trader> make_trader() = 0;
    virtual boost::asio::awaitable<void> close() = 0;
};

/// @name The methods
/// @{
std::unique_ptr<method> make_lock_method(boost::asio::io_context& context, const std::string& url);
std::unique_ptr<method> make_watch_method(boost::asio::io_context& context, const std::string& url);
std::unique_ptr<method> make_script_method(boost::asio::io_context& context,
                                           const std::string& url);
std::unique_ptr<method> make_sql_method(boost::asio::io_context& context);
std::unique_ptr<method> make_getset_method(boost::asio::io_context& context,
                                           const std::string& url);
/// @}

} // namespace example

#endif
