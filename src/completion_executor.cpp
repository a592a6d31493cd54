#include <leasehold/detail/initiation.hpp>

#include <boost/asio/io_context.hpp>

namespace leasehold::detail {
namespace {

template <class Executor>
asio::any_completion_executor posting(const Executor& target)
{
    return asio::prefer(target, asio::execution::blocking.never, asio::execution::outstanding_work.tracked);
}

} // namespace

asio::any_completion_executor completion_executor(const asio::any_io_executor& target)
{
    if (!target)
        return {};
    // Asking an erased executor makes an erased copy for each answer; this one is behind nearly every coroutine.
    if (const auto* known = target.target<asio::io_context::executor_type>())
        return posting(*known);
    return posting(target);
}

} // namespace leasehold::detail
