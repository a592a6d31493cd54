#ifndef LEASEHOLD_TESTING_STORE_CONTRACT_HPP
#define LEASEHOLD_TESTING_STORE_CONTRACT_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/store.hpp>

#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>

namespace leasehold::testing {

/// A server for one test, and operations of its operator, to check a store against the contract of
/// `store`. Derive from it to check your own store.
class LEASEHOLD_TESTING_EXPORT store_lab
{
public:
    store_lab() = default;
    store_lab(const store_lab&) = delete;
    store_lab& operator=(const store_lab&) = delete;
    virtual ~store_lab() = default;

    /// Makes a store on the server of this lab. It is not opened.
    virtual std::shared_ptr<store> make_store() = 0;

    /// Deletes a lock without a notification.
    virtual void erase(std::string_view name) = 0;

    /// Whether each server has a lock that the store has granted. A quorum also writes it to slower
    /// members after the grant, so the contract waits for this before a deletion.
    [[nodiscard]] virtual bool is_everywhere(std::string_view name)
    {
        static_cast<void>(name);
        return true;
    }

    /// Waits until the server has noticed the end of each client whose store was closed. The
    /// contract calls it when one client is left.
    virtual void wait_for_ended_clients() {}

    /// Deletes everything.
    virtual void clear() = 0;
};

/// A store violates the contract of `store`. `what()` has a line for each violation, with its place
/// in the contract.
class LEASEHOLD_TESTING_EXPORT contract_violation : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

/// One requirement of every store.
struct contract_case
{
    const char* name; ///< The requirement, as an identifier.

    /// Checks it, on a lab of its own.
    /// @throws contract_violation The store violates it.
    /// @throws std::runtime_error An expected event did not happen within ten seconds.
    void (*run)(store_lab& lab);
};

/// The contract of `store` as test cases, for a loop in any test framework:
/// @code
/// for (const contract_case& each : store_contract())
///     add_test(each.name, [&each] { my_lab lab; each.run(lab); });
/// @endcode
/// Cases of features that the store's traits exclude are skipped.
[[nodiscard]] LEASEHOLD_TESTING_EXPORT std::span<const contract_case> store_contract() noexcept;

} // namespace leasehold::testing

#endif
