#include <leasehold/detail/initiation.hpp>

namespace leasehold::detail {

completion_executor::completion_executor(const asio::any_io_executor& target)
{
    if (!target)
        return;
    // Calling an erased executor makes an erased copy each time.
    if (const auto* known = target.target<asio::io_context::executor_type>())
        assign(posting(*known));
    else
        assign(posting(target));
}

} // namespace leasehold::detail
