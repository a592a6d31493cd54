#ifndef LEASEHOLD_TESTING_STORE_CONTRACT_HPP
#define LEASEHOLD_TESTING_STORE_CONTRACT_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/store.hpp>

#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>

namespace leasehold::testing {

/// A server of one test, and what an operator could do to it: what the contract of `store` is tried
/// out on. Derive from it to try a store of your own.
class LEASEHOLD_TESTING_EXPORT store_lab
{
public:
    store_lab() = default;
    store_lab(const store_lab&) = delete;
    store_lab& operator=(const store_lab&) = delete;
    virtual ~store_lab() = default;

    /// A store on the server of this lab, not opened.
    virtual std::shared_ptr<store> make_store() = 0;

    /// Deletes a lock behind everyone's back.
    virtual void erase(std::string_view name) = 0;

    /// Deletes everything.
    virtual void clear() = 0;
};

/// What a store did not do as `store` says: `what()` has one line for each, with the place in the
/// contract.
class LEASEHOLD_TESTING_EXPORT contract_violation : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

/// One thing that every store has to do.
struct contract_case
{
    const char* name; ///< Says what has to hold, as an identifier.

    /// Tries it, on a lab of its own; returns when it held.
    /// @throws contract_violation when it did not.
    /// @throws std::runtime_error when something did not happen within ten seconds.
    void (*run)(store_lab& lab);
};

/// The contract of `store`, case by case. For a loop in the test framework of your choice:
/// @code
/// for (const contract_case& each : store_contract())
///     add_test(each.name, [&each] { my_lab lab; each.run(lab); });
/// @endcode
/// What a store's traits say that it does not do is not asked of it.
[[nodiscard]] LEASEHOLD_TESTING_EXPORT std::span<const contract_case> store_contract() noexcept;

} // namespace leasehold::testing

#endif
