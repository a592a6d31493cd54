#include <boost/test/unit_test.hpp>

#include <leasehold/error.hpp>

#include <initializer_list>
#include <set>
#include <string>

using leasehold::condition;
using leasehold::errc;
using leasehold::error_code;

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
    for (errc e : {errc::store_refused, errc::store_unavailable, errc::outcome_unknown})
        BOOST_TEST((error_code(e) == condition::store_fault));
}

BOOST_AUTO_TEST_CASE(a_foreign_category_with_the_same_number_is_no_match)
{
    const error_code foreign(static_cast<int>(errc::held), boost::system::generic_category());
    BOOST_TEST((foreign != condition::busy));
    BOOST_TEST((error_code() != condition::busy));
}
