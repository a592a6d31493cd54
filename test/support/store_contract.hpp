#ifndef LEASEHOLD_TEST_SUPPORT_STORE_CONTRACT_HPP
#define LEASEHOLD_TEST_SUPPORT_STORE_CONTRACT_HPP

// The contract of stores as test cases of Boost.Test. A test of a store derives from `store_lab`:
//
//   const bool added = leasehold::test::add_store_contract([] { return std::make_unique<my_lab>();
//   });

#include "support/run.hpp"
#include "testing/contract/contract_pair.hpp"

#include <leasehold/testing/store_contract.hpp>
#include <leasehold/testing/store_session.hpp>

#include <boost/test/test_tools.hpp>
#include <boost/test/tree/test_unit.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace leasehold::test {

using testing::store_lab;
using testing::store_session;

using lab_factory = std::function<std::unique_ptr<store_lab>()>;

/// Requests in the form of store tests.
namespace contract = testing::contract;

/// Registers every case of the contract with Boost.Test, each with its own lab.
inline bool add_store_contract(const lab_factory& make_lab)
{
    for (const testing::contract_case& each : testing::store_contract()) {
        boost::unit_test::framework::current_auto_test_suite().add(boost::unit_test::make_test_case(
            [make_lab, run = each.run] { run(*make_lab()); }, "contract_" + std::string(each.name),
            __FILE__, std::size_t{__LINE__}));
    }
    return true;
}

} // namespace leasehold::test

#endif
