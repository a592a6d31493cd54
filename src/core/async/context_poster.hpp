#ifndef LEASEHOLD_SRC_CORE_ASYNC_CONTEXT_POSTER_HPP
#define LEASEHOLD_SRC_CORE_ASYNC_CONTEXT_POSTER_HPP

#include "core/async/context_lifetime.hpp"
#include "core/async/posting_executor.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/query.hpp>

#include <memory>
#include <mutex>
#include <utility>

namespace leasehold::detail {

namespace asio = boost::asio;

/// Posts to an executor from any thread, while its context lives.
class context_poster final : public context_observer
{
public:
    static std::shared_ptr<context_poster> make(const asio::any_io_executor& executor)
    {
        auto made = std::make_shared<context_poster>(executor);
        asio::use_service<context_lifetime>(asio::query(executor, asio::execution::context))
            .add(made);
        return made;
    }

    explicit context_poster(const asio::any_io_executor& executor)
        : executor_(posting_executor(executor))
    {}

    /// If the context has ended, returns false and destroys `function`.
    template <class Function>
    bool post(Function function)
    {
        const std::scoped_lock lock(mutex_);
        if (!executor_)
            return false;
        // A post runs nothing here, so it is safe under the mutex; the mutex delays the end of the
        // context.
        executor_.execute(std::move(function));
        return true;
    }

    void on_context_end() noexcept override
    {
        const std::scoped_lock lock(mutex_);
        executor_ = {};
    }

private:
    std::mutex mutex_;
    asio::any_io_executor executor_;
};

} // namespace leasehold::detail

#endif
