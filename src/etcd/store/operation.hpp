#ifndef LEASEHOLD_SRC_ETCD_STORE_OPERATION_HPP
#define LEASEHOLD_SRC_ETCD_STORE_OPERATION_HPP

#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>

#include <memory>
#include <string>
#include <utility>

namespace leasehold::etcd_store {

using details_ptr = std::shared_ptr<const diagnostics>;

class store_state;

/// A request of the store for one name. Those of a name are executed one after the other, in the
/// order of the calls.
class operation_of_name : public std::enable_shared_from_this<operation_of_name>
{
public:
    operation_of_name(std::shared_ptr<store_state> state, std::string keys)
        : prefix(std::move(keys)), state_(std::move(state))
    {}
    virtual ~operation_of_name() = default;
    operation_of_name(const operation_of_name&) = delete;
    operation_of_name& operator=(const operation_of_name&) = delete;

    /// There is a connection. Ends with `finish`, or with that of the state.
    virtual void start() = 0;
    /// Calls the handler, once.
    virtual void complete(error_code code, const details_ptr& details) = 0;

    const std::string prefix; ///< Of the keys of the lock.

protected:
    /// Ends the operation without an error.
    void finish();

    const std::shared_ptr<store_state> state_;
};

} // namespace leasehold::etcd_store

#endif
