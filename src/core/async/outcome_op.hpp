#ifndef LEASEHOLD_SRC_CORE_ASYNC_OUTCOME_OP_HPP
#define LEASEHOLD_SRC_CORE_ASYNC_OUTCOME_OP_HPP

#include "core/async/completion.hpp"

#include <boost/asio/error.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <utility>

namespace leasehold::detail {

/// Waits for how something ends that goes on without it: a release, a shutdown, the client's run.
/// The first outcome counts.
class outcome_op : public boost::intrusive_ref_counter<outcome_op>
{
public:
    explicit outcome_op(completion<error_code>::handler_type&& handler) : done(std::move(handler))
    {}

    void complete(error_code outcome, details_ptr details = {})
    {
        if (done.pending())
            done(outcome, std::move(details));
    }

    /// What is waited for goes on.
    void cancel() { complete(asio::error::operation_aborted); }

    completion<error_code> done;
};

using outcome_op_ptr = boost::intrusive_ptr<outcome_op>;

} // namespace leasehold::detail

#endif
