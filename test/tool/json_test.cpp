#include "json.hpp"

#include <boost/test/unit_test.hpp>

#include <string_view>

namespace leasehold::tool {

BOOST_AUTO_TEST_SUITE(tool_json)

BOOST_AUTO_TEST_CASE(values_are_separated_by_commas)
{
    json_writer json;
    json.begin_object().key("a").number(1).key("b").begin_array().null().boolean(true).number(2.5);
    json.begin_object().end_object().end_array().key("c").text("d").end_object();
    BOOST_TEST(json.str() == R"({"a":1,"b":[null,true,2.5,{}],"c":"d"})");
}

BOOST_AUTO_TEST_CASE(content_of_a_text_is_escaped)
{
    json_writer json;
    json.text(std::string_view("\"\\\n\x7f\0é", 7)); // in UTF-8
    BOOST_TEST(json.str() == "\"\\\"\\\\\\u000a\\u007f\\u0000é\"");
}

BOOST_AUTO_TEST_CASE(invalid_utf8_is_replaced)
{
    json_writer json;
    json.text("a\xffz\xc3").text("\xed\xa0\x80");
    BOOST_TEST(json.str() == R"("a\ufffdz\ufffd","\ufffd\ufffd\ufffd")");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace leasehold::tool
