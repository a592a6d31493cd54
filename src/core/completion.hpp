#ifndef LEASEHOLD_SRC_CORE_COMPLETION_HPP
#define LEASEHOLD_SRC_CORE_COMPLETION_HPP

#include <leasehold/error.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/associated_immediate_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/require.hpp>

#include <tuple>
#include <utility>

namespace leasehold::detail {

namespace asio = boost::asio;

/// Where completions go.
struct completion_path
{
    completion_path(const asio::any_io_executor& strand, const asio::any_io_executor& base)
        : io(strand), fallback(strand), away(asio::require(base, asio::execution::blocking.never))
    {}

    asio::any_io_executor io;
    asio::any_completion_executor fallback; ///< `io`, as the handler's executor unless it brings its own.
    /// Out of the strand: handlers must not run in it, or the user's code would hold up the renewals.
    asio::any_io_executor away;
};

/// A handler that waits for its results. Keeps the handler's context busy, and leaves the handler on the handler's own executor, never inside a call.
template <class... Results>
class completion
{
public:
    using handler_type = asio::any_completion_handler<void(Results...)>;

    completion() = default;

    /// @param path Stays as long as the operation.
    completion(handler_type handler, const completion_path& path)
        : handler_(std::move(handler)), slot_(asio::get_associated_cancellation_slot(handler_)), path_(&path),
          executor_(asio::prefer(asio::get_associated_executor(handler_, path.fallback), asio::execution::outstanding_work.tracked))
    {}

    [[nodiscard]] bool pending() const noexcept { return static_cast<bool>(handler_); }

    /// Where the caller's cancellation arrives. Belongs to the initiating thread, then to the handler's executor; never to the strand.
    [[nodiscard]] asio::cancellation_slot& slot() noexcept { return slot_; }

    void operator()(Results... results)
    {
        path_->away.execute([executor = std::move(executor_),
                             call = invocation{std::move(handler_), slot_, {std::move(results)...}}]() mutable {
            executor.execute(std::move(call));
        });
    }

    /// Destroys the handler without calling it: its context has ended.
    void drop() noexcept
    {
        auto handler = std::move(handler_);
        executor_ = {};
    }

    /// Completes an operation that never began.
    static void immediate(handler_type handler, const asio::any_io_executor& io, Results... results)
    {
        const auto executor = asio::get_associated_immediate_executor(handler, io);
        executor.execute(invocation{std::move(handler), {}, {std::move(results)...}});
    }

private:
    struct invocation
    {
        handler_type handler;
        asio::cancellation_slot slot;
        std::tuple<Results...> results;

        void operator()()
        {
            // Before the handler runs: what the slot keeps of the operation is freed, and a late emission finds nothing.
            if (slot.is_connected())
                slot.clear();
            std::apply([this](Results&... each) { std::move(handler)(std::move(each)...); }, results);
        }
    };

    handler_type handler_;
    asio::cancellation_slot slot_;
    const completion_path* path_ = nullptr;
    asio::any_completion_executor executor_;
};

} // namespace leasehold::detail

#endif
