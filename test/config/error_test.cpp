#include <boost/test/unit_test.hpp>

#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>

#include <chrono>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <type_traits>

using leasehold::condition;
using leasehold::diagnostics;
using leasehold::errc;
using leasehold::error_code;
using leasehold::error_with_diagnostics;
using leasehold::holder_name;

BOOST_AUTO_TEST_CASE(every_error_has_a_text_of_its_own)
{
    std::set<std::string> texts;
    const int last = static_cast<int>(errc::already_running);
    for (int value = 1; value <= last; ++value) {
        const error_code code = static_cast<errc>(value);
        BOOST_TEST(code.message() != "unknown leasehold error");
        texts.insert(code.message());
    }
    BOOST_TEST(texts.size() == static_cast<std::size_t>(last));
    BOOST_TEST(error_code(errc::held).category().name() == std::string("leasehold"));
}

BOOST_AUTO_TEST_CASE(conditions_group_the_errors)
{
    for (errc e : {errc::held, errc::timed_out})
        BOOST_TEST((error_code(e) == condition::busy));
    for (errc e : {errc::lost, errc::expired, errc::not_owner, errc::hold_limit}) {
        BOOST_TEST((error_code(e) == condition::lease_ended));
        BOOST_TEST((error_code(e) != condition::busy));
    }
    for (errc e : {errc::wrong_type, errc::invalid_name, errc::invalid_option, errc::invalid_url,
                   errc::not_supported, errc::permission_denied, errc::already_running})
        BOOST_TEST((error_code(e) == condition::bad_request));
    for (errc e : {errc::store_refused, errc::store_unavailable, errc::outcome_unknown,
                   errc::no_quorum, errc::not_replicated})
        BOOST_TEST((error_code(e) == condition::store_fault));
}

BOOST_AUTO_TEST_CASE(details_are_one_line_without_what_is_unknown)
{
    diagnostics details;
    BOOST_TEST(details.empty());
    BOOST_TEST(details.to_string() == "");
    details.key = "a\nb";
    BOOST_TEST(details.to_string() == "key 'a\\x0ab'");
    BOOST_TEST(!details.empty());
    details.server = "127.0.0.1:6379";
    details.server_message = "BUSY";
    details.holder = "5e0f8c21";
    details.cause = errc::store_unavailable;
    details.waited = std::chrono::milliseconds(20);
    details.attempts = 1;
    BOOST_TEST(details.to_string() ==
               "server 127.0.0.1:6379, key 'a\\x0ab', answered 'BUSY', held by client 5e0f8c21, "
               "last request: the lock server cannot be reached, waited 20 ms, 1 attempt");
    details.attempts = 2;
    BOOST_TEST(details.to_string().ends_with("2 attempts"));
    details.clear();
    BOOST_TEST((details == diagnostics()));
}

BOOST_AUTO_TEST_CASE(each_detail_counts)
{
    const diagnostics each[] = {
        {.server = "s"}, {.key = "k"},          {.server_message = "m"},
        {.holder = "h"}, {.cause = errc::held}, {.waited = std::chrono::milliseconds(1)},
        {.attempts = 1},
    };
    for (diagnostics d : each) {
        BOOST_TEST(!d.empty());
        BOOST_TEST(d.to_string() != "");
        d.clear();
        BOOST_TEST(d.empty());
    }
}

// With the rest anyone could enter.
BOOST_AUTO_TEST_CASE(of_an_owner_only_the_beginning_is_shown)
{
    BOOST_TEST(holder_name("5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10:17") == "5e0f8c21");
    BOOST_TEST(holder_name("5E0F8C21-3A1C-4A50-9CD4-0B8A5D4E7F10:17") == "5E0F8C21");
    for (const char* other :
         {"", "owner", "5e0f8c21", "5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10",
          "5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10:", "5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10#17",
          "5e0f8c21x3a1c-4a50-9cd4-0b8a5d4e7f10:17", "5e0f8g21-3a1c-4a50-9cd4-0b8a5d4e7f10:17"})
        BOOST_TEST(holder_name(other) == "");
}

BOOST_AUTO_TEST_CASE(an_exception_has_the_details_in_its_text)
{
    const auto details = std::make_shared<diagnostics>(diagnostics{.key = "stock"});
    const error_with_diagnostics error(errc::held, details);
    BOOST_TEST((error.code() == errc::held));
    BOOST_TEST(std::string(error.what()).starts_with("key 'stock': another owner has the lock"));
    static_assert(std::is_nothrow_copy_constructible_v<error_with_diagnostics>);
    const error_with_diagnostics copy = error;
    BOOST_TEST((copy.get_diagnostics() == *details));
}

BOOST_AUTO_TEST_CASE(a_foreign_category_with_the_same_number_is_no_match)
{
    const error_code foreign(static_cast<int>(errc::held), boost::system::generic_category());
    BOOST_TEST((foreign != condition::busy));
    BOOST_TEST((error_code() != condition::busy));
}
