#ifndef LEASEHOLD_SRC_SESSION_STORE_OPERATION_HPP
#define LEASEHOLD_SRC_SESSION_STORE_OPERATION_HPP

#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>

#include <memory>
#include <string>
#include <utility>

namespace leasehold::session_store {

using details_ptr = std::shared_ptr<const diagnostics>;

/// A request of the store for one name. Those of a name are executed one after the other, in the
/// order of the calls.
/// @tparam State Derived from `state_of`.
template <class State>
class operation_of : public std::enable_shared_from_this<operation_of<State>>
{
public:
    operation_of(std::shared_ptr<State> state, std::string at)
        : place(std::move(at)), state_(std::move(state))
    {}
    virtual ~operation_of() = default;
    operation_of(const operation_of&) = delete;
    operation_of& operator=(const operation_of&) = delete;

    /// There is a connection. Ends with `finish`, or with that of the state.
    virtual void start() = 0;
    /// Calls the handler, once.
    virtual void complete(error_code code, const details_ptr& details) = 0;

    const std::string place; ///< Of the lock at the server.

protected:
    /// Ends the operation without an error.
    void finish() { state_->finish(this->shared_from_this(), {}); }

    /// Calls the handler of a request. After an error, the reply has only the details.
    template <class Handler, class Reply>
    static void answer(Handler& handler, error_code code, Reply reply, const details_ptr& details)
    {
        if (code) {
            reply = {};
            reply.details = details;
        }
        std::move(handler)(code, std::move(reply));
    }

    const std::shared_ptr<State> state_;
};

} // namespace leasehold::session_store

#endif
