#include <boost/test/unit_test.hpp>

#include "guard/print.hpp"

#include <leasehold/extras/guard/http.hpp>

#include <boost/system/errc.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace {

namespace guard = leasehold::guard;
using guard::errc;
using leasehold::error_code;

} // namespace

BOOST_AUTO_TEST_SUITE(http_field)

BOOST_AUTO_TEST_CASE(field_of_digits_is_a_fence)
{
    for (const std::string_view field : {"12", " 12", "12\t", "  12  ", "0012"}) {
        error_code failed = errc::stale_fence;
        BOOST_TEST(guard::fence_of_http(field, failed) == 12u);
        BOOST_TEST(failed == error_code());
    }
    error_code failed;
    BOOST_TEST(guard::fence_of_http("9223372036854775807", failed) == guard::largest_fence);
    BOOST_TEST(failed == error_code());
}

BOOST_AUTO_TEST_CASE(field_with_other_characters_is_an_invalid_fence)
{
    for (const std::string_view field :
         {"", " ", "0", "-1", "+1", "1.0", "1e3", "0x10", "twelve", "12, 13", "12 13", "12;",
          "\"12\"", "9223372036854775808", "18446744073709551616", "99999999999999999999999999",
          "\xd9\xa1"}) {
        error_code failed;
        BOOST_TEST_CONTEXT(field)
        {
            BOOST_TEST(guard::fence_of_http(field, failed) == 0u);
            BOOST_TEST(failed == errc::invalid_fence);
        }
    }
    error_code failed;
    BOOST_TEST(guard::fence_of_http(std::nullopt, failed) == 0u);
    BOOST_TEST(failed == errc::missing_fence);
}

BOOST_AUTO_TEST_CASE(each_result_of_a_write_has_its_http_status)
{
    BOOST_TEST(guard::http_status({}) == 204u);
    BOOST_TEST(guard::http_status(errc::stale_fence) == 412u);
    BOOST_TEST(guard::http_status(errc::missing_fence) == 428u);
    BOOST_TEST(guard::http_status(errc::invalid_fence) == 400u);
    BOOST_TEST(guard::http_status(errc::damaged_fence) == 500u);
    BOOST_TEST(guard::http_status(make_error_code(boost::system::errc::io_error)) == 500u);
}

BOOST_AUTO_TEST_SUITE_END()
