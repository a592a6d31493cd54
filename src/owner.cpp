#include <leasehold/owner.hpp>

#include "base/argument_error.hpp"

#include <boost/uuid/string_generator.hpp>
#include <boost/uuid/uuid_io.hpp>

#include <charconv>
#include <optional>
#include <stdexcept>

namespace leasehold {
namespace {

std::optional<std::uint64_t> number(std::string_view text)
{
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [last, failure] = std::from_chars(text.data(), end, value);
    if (failure != std::errc() || last != end || text.empty() ||
        (text.size() > 1 && text.front() == '0'))
        return std::nullopt;
    return value;
}

bool is_uuid(const std::string& text)
{
    try {
        return to_string(boost::uuids::string_generator()(text)) == text;
    }
    catch (const std::runtime_error&) {
        return false;
    }
}

} // namespace

owner owner::from_string(std::string_view text)
{
    const auto hash = text.find('#');
    const auto colon = text.find(':');
    if (colon != std::string_view::npos && hash != std::string_view::npos && colon < hash) {
        const auto fence = number(text.substr(hash + 1));
        if (is_uuid(std::string(text.substr(0, colon))) &&
            number(text.substr(colon + 1, hash - colon - 1)) && fence)
            return owner(std::string(text.substr(0, hash)), *fence);
    }
    // The text is not shown: if only a space is wrong, a reader of the log could use the owner.
    detail::throw_argument_error(errc::invalid_option, "owner",
                                 "a text of " + std::to_string(text.size()) + " bytes",
                                 "a result of owner::to_string, <uuid>:<number>#<fence>");
}

std::string owner::to_string() const
{
    return empty() ? std::string() : id_ + '#' + std::to_string(fence_);
}

} // namespace leasehold
