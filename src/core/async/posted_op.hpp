#ifndef LEASEHOLD_SRC_CORE_ASYNC_POSTED_OP_HPP
#define LEASEHOLD_SRC_CORE_ASYNC_POSTED_OP_HPP

#include <leasehold/error.hpp>

#include <boost/smart_ptr/intrusive_ptr.hpp>

#include <atomic>
#include <utility>

namespace leasehold::detail {

/// An operation on its way to the strand. When it does not get there, because the context has
/// ended, its handler is destroyed here: the caller's slot still refers to the operation, and a
/// handler that owns that slot would stay for ever.
template <class Op>
class posted_op
{
public:
    explicit posted_op(boost::intrusive_ptr<Op> op) noexcept : op_(std::move(op)) {}
    posted_op(posted_op&&) noexcept = default;
    posted_op& operator=(posted_op&&) = delete;

    ~posted_op()
    {
        if (op_ && !arrived_)
            op_->done.drop();
    }

    /// Calls `begin(op)`; an operation that could not begin is told that the client has ended. The
    /// operation is kept for as long as this.
    template <class Client, class Begin>
    void arrive(Client& at, Begin begin)
    {
        arrived_ = true;
        try {
            begin(op_);
            if (op_->done.cancel_requested.load(std::memory_order_relaxed))
                at.cancel_requested.store(true, std::memory_order_relaxed);
        }
        catch (...) {
            op_->done.end(errc::shut_down);
            throw;
        }
    }

private:
    boost::intrusive_ptr<Op> op_;
    bool arrived_ = false;
};

} // namespace leasehold::detail

#endif
