// The deliberate errors in scripts are patches of their texts.
#include "testing/server/script_mutants.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <string_view>

namespace leasehold::testing::impl {
namespace {

BOOST_AUTO_TEST_SUITE(script_mutants_test)

BOOST_AUTO_TEST_CASE(each_patch_changes_a_script)
{
    BOOST_TEST(find_stale_patch(patches_of_scripts()) == nullptr);
}

BOOST_AUTO_TEST_CASE(patch_is_stale_if_no_script_has_its_text)
{
    constexpr std::array patches{
        script_patch{mutant::fence_without_clock, "if last >= floor then", "if true then"},
        script_patch{mutant::fence_without_clock, "if last >= ground then", "if true then"}};
    BOOST_TEST(find_stale_patch(patches) == &patches[1]);
}

/// The other scripts may have the text.
BOOST_AUTO_TEST_CASE(patch_is_stale_if_its_own_script_lacks_its_text)
{
    constexpr std::array patches{script_patch{mutant::fence_without_clock, "if last >= floor then",
                                              "if true then", known_script::native_alive}};
    BOOST_TEST(find_stale_patch(patches) == &patches[0]);
}

BOOST_AUTO_TEST_CASE(patch_replaces_its_text_for_its_own_error_only)
{
    const redis_store::script& acquire = source_of(known_script::native_acquire);
    const std::string_view text = "left >= 0 and";
    BOOST_TEST(acquire.text.find(text) != std::string_view::npos);
    BOOST_TEST(with_mutant(acquire, mutant::queue_not_left) == acquire.text);
    BOOST_TEST(with_mutant(acquire, mutant::claim_not_extended) != acquire.text);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace leasehold::testing::impl
