#ifndef LEASEHOLD_EXAMPLE_OPTIMISTIC_METHOD_HPP
#define LEASEHOLD_EXAMPLE_OPTIMISTIC_METHOD_HPP

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>
#include <string>

namespace example {

/// What came of one attempt to sell a unit.
enum class outcome
{
    sold,
    conflict, ///< Another came between; nothing was written.
    none_left,
};

/// The time between reading and writing, which everybody needs: to ask a bank, to write a letter.
using thinking = std::function<boost::asio::awaitable<void>()>;

/// Somebody who sells, as a process of its own would: nothing is shared with others but the data.
class trader
{
public:
    trader() = default;
    trader(const trader&) = delete;
    trader& operator=(const trader&) = delete;
    virtual ~trader() = default;

    /// Reads what is left, thinks, writes one less.
    virtual boost::asio::awaitable<outcome> try_to_sell(int item, const thinking& think) = 0;

    /// Ends what runs in the background.
    virtual boost::asio::awaitable<void> close() { co_return; }
};

/// A way to keep those who sell at the same time apart.
class method
{
public:
    method() = default;
    method(const method&) = delete;
    method& operator=(const method&) = delete;
    virtual ~method() = default;

    [[nodiscard]] virtual std::string name() const = 0;
    /// Whether it never sells more than there is.
    [[nodiscard]] virtual bool correct() const { return true; }

    virtual boost::asio::awaitable<void> open(int items, int stock) = 0;
    [[nodiscard]] virtual std::unique_ptr<trader> make_trader() = 0;
    virtual boost::asio::awaitable<void> close() = 0;
};

/// @name The ways
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
