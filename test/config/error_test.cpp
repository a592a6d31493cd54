#include <boost/test/unit_test.hpp>

#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
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
    const int last = static_cast<int>(errc::silent);
    for (int value = 1; value <= last; ++value) {
        const error_code code = static_cast<errc>(value);
        BOOST_TEST(code.message() != "unknown leasehold error");
        texts.insert(code.message());
    }
    BOOST_TEST(texts.size() == static_cast<std::size_t>(last));
    BOOST_TEST(error_code(errc::held).category().name() == std::string("leasehold"));
}

BOOST_AUTO_TEST_CASE(each_condition_groups_its_errors_and_no_others)
{
    const std::map<condition, std::set<errc>> groups{
        {condition::busy, {errc::held, errc::timed_out}},
        {condition::lease_ended,
         {errc::lost, errc::expired, errc::not_owner, errc::hold_limit, errc::silent}},
        {condition::bad_request,
         {errc::wrong_type, errc::invalid_name, errc::invalid_option, errc::invalid_url,
          errc::not_supported, errc::permission_denied, errc::already_running}},
        {condition::store_fault,
         {errc::store_refused, errc::store_unavailable, errc::outcome_unknown, errc::no_quorum,
          errc::not_replicated}}};
    std::set<std::string> texts;
    for (const auto& [of, group] : groups) {
        const boost::system::error_condition said = of;
        BOOST_TEST(said.category().name() == std::string("leasehold.condition"));
        texts.insert(said.message());
        for (int value = 0; value <= static_cast<int>(errc::silent) + 1; ++value) {
            const auto e = static_cast<errc>(value);
            BOOST_TEST_CONTEXT(said.message() << ", " << value)
            {
                BOOST_TEST((error_code(value, error_code(errc::held).category()) == of) ==
                           group.contains(e));
            }
        }
    }
    BOOST_TEST(texts.size() == groups.size());
    BOOST_TEST(!texts.contains("unknown leasehold condition"));
}

BOOST_AUTO_TEST_CASE(details_are_one_line_of_the_known_facts)
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
    details.server = "orders:6379";
    details.connection_error = "Connection refused\n";
    details.key = "stock";
    BOOST_TEST(!details.empty());
    BOOST_TEST(details.to_string() == "server orders:6379 (Connection refused\\x0a), key 'stock'");
    details.clear();
    BOOST_TEST(details.empty());
}

BOOST_AUTO_TEST_CASE(text_names_the_holder_with_its_reported_details)
{
    diagnostics details;
    details.holder = "5e0f8c21";
    using std::chrono::milliseconds;
    details.holder_info = {
        .host = "web-3\n",
        .program = "orders",
        .pid = 4711,
        .since = std::chrono::sys_time<milliseconds>(milliseconds(1'795'399'445'678))};
    BOOST_TEST(details.to_string() == "held by client 5e0f8c21 (orders on web-3\\x0a, pid 4711, "
                                      "since 2026-11-23 02:04:05 UTC)");
    details.holder_info = {.host = "web-3"};
    BOOST_TEST(details.to_string() == "held by client 5e0f8c21 (on web-3)");
    details.holder_info = {.pid = 4711};
    BOOST_TEST(details.to_string() == "held by client 5e0f8c21 (pid 4711)");
}

BOOST_AUTO_TEST_CASE(single_detail_makes_diagnostics_not_empty)
{
    const diagnostics each[] = {
        {.server = "s"},         {.key = "k"},
        {.server_message = "m"}, {.holder = "h"},
        {.cause = errc::held},   {.waited = std::chrono::milliseconds(1)},
        {.attempts = 1},         {.holder_info = {.host = "h"}},
    };
    for (diagnostics d : each) {
        BOOST_TEST(!d.empty());
        BOOST_TEST(d.to_string() != "");
        d.clear();
        BOOST_TEST(d.empty());
    }
}

// With the whole owner, every reader could acquire the lock.
BOOST_AUTO_TEST_CASE(only_the_beginning_of_an_owner_is_shown)
{
    BOOST_TEST(holder_name("5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10:17") == "5e0f8c21");
    BOOST_TEST(holder_name("5E0F8C21-3A1C-4A50-9CD4-0B8A5D4E7F10:17") == "5E0F8C21");
    for (const char* other :
         {"", "owner", "5e0f8c21", "5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10",
          "5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10:", "5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10#17",
          "5e0f8c21x3a1c-4a50-9cd4-0b8a5d4e7f10:17", "5e0f8g21-3a1c-4a50-9cd4-0b8a5d4e7f10:17"})
        BOOST_TEST(holder_name(other) == "");
}

BOOST_AUTO_TEST_CASE(text_without_uuid_and_colon_names_no_holder)
{
    const std::string one = "09afAF05-0aF9-5aAf-9cd4-0b8a5d4e7f1F:1";
    BOOST_TEST(holder_name(one) == "09afAF05");
    constexpr std::string_view hex = "0123456789abcdefABCDEF";
    for (std::size_t at = 0; at + 1 < one.size(); ++at)
        for (int byte = 0; byte < 256; ++byte) {
            std::string other = one;
            other[at] = static_cast<char>(byte);
            const bool mark = one[at] == '-' || one[at] == ':';
            const bool known = mark ? other == one : hex.find(other[at]) != std::string_view::npos;
            BOOST_TEST_CONTEXT(at << ", " << byte)
            {
                BOOST_TEST(holder_name(other) == (known ? other.substr(0, 8) : ""));
            }
        }
}

BOOST_AUTO_TEST_CASE(exception_has_the_details_in_its_text)
{
    const auto details = std::make_shared<diagnostics>(diagnostics{.key = "stock"});
    const error_with_diagnostics error(errc::held, details);
    BOOST_TEST((error.code() == errc::held));
    BOOST_TEST(std::string(error.what()).starts_with("key 'stock': another owner holds the lock"));
    static_assert(std::is_nothrow_copy_constructible_v<error_with_diagnostics>);
    const error_with_diagnostics copy = error;
    BOOST_TEST((copy.get_diagnostics() == *details));
}

BOOST_AUTO_TEST_CASE(same_number_of_another_category_does_not_match)
{
    const error_code generic(static_cast<int>(errc::held), boost::system::generic_category());
    BOOST_TEST((generic != condition::busy));
    BOOST_TEST((error_code() != condition::busy));
}
