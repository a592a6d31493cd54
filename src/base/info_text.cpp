#include "base/info_text.hpp"

#include "base/url.hpp"

#include <boost/system/system_error.hpp>

#include <chrono>
#include <cstdint>

namespace leasehold::detail {
namespace {

// A longer text is cut: the fields are for display.
constexpr std::size_t longest_text = 256;

std::string encoded(std::string_view text)
{
    std::string result;
    append_encoded(result, text.substr(0, longest_text), "-._");
    return result;
}

} // namespace

std::string text_of(const client_info& info)
{
    return "host=" + encoded(info.host) + "&program=" + encoded(info.program) +
           "&pid=" + std::to_string(info.pid) +
           "&since=" + std::to_string(info.since.time_since_epoch().count()) +
           "&version=" + encoded(info.version);
}

client_info read_info(std::string_view text)
{
    client_info info;
    try {
        each_parameter(text, [&](const std::string& name, const std::string& value) {
            std::int64_t number = 0;
            if (name == "host")
                info.host = value.substr(0, longest_text);
            else if (name == "program")
                info.program = value.substr(0, longest_text);
            else if (name == "version")
                info.version = value.substr(0, longest_text);
            else if (name == "pid" && read_number(value, number) && number > 0)
                info.pid = number;
            else if (name == "since" && read_number(value, number) && number > 0)
                info.since = decltype(info.since)(std::chrono::milliseconds(number));
        });
    }
    catch (const boost::system::system_error&) {
        // Another program may have written it.
    }
    return info;
}

} // namespace leasehold::detail
