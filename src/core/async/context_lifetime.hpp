#ifndef LEASEHOLD_SRC_CORE_ASYNC_CONTEXT_LIFETIME_HPP
#define LEASEHOLD_SRC_CORE_ASYNC_CONTEXT_LIFETIME_HPP

#include <leasehold/detail/export.hpp>

#include <boost/asio/execution_context.hpp>

#include <memory>
#include <mutex>
#include <vector>

namespace leasehold::detail {

/// Notified when its execution context ends. A later post to the context is a use-after-free. The
/// operations of other services may be destroyed by then, so that nothing can be cancelled.
class context_observer
{
public:
    virtual void on_context_end() noexcept = 0;

    /// Called in a forked process, for the copy. It counts as ended, but its context continues:
    /// outstanding operations on resources of the parent must be cancelled.
    virtual void on_fork() noexcept { on_context_end(); }

protected:
    ~context_observer() = default;
};

/// The service of an execution context that notifies its observers. Exported: the store in Redis,
/// which uses it, is a separate library.
class LEASEHOLD_EXPORT context_lifetime final : public boost::asio::execution_context::service
{
public:
    static boost::asio::execution_context::id id;

    explicit context_lifetime(boost::asio::execution_context& owner) : service(owner) {}

    void add(const std::shared_ptr<context_observer>& user);

private:
    void notify(void (context_observer::*how)() noexcept);
    void shutdown() override;
    void notify_fork(boost::asio::execution_context::fork_event event) override;

    std::mutex mutex_;
    std::vector<std::weak_ptr<context_observer>> users_;
    std::size_t tidy_at_ = 16;
};

} // namespace leasehold::detail

#endif
