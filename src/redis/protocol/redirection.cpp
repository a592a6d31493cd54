#include "redis/protocol/redirection.hpp"

#include <charconv>

namespace leasehold::redis_store {
namespace {

template <class Number>
bool read(std::string_view text, Number& value) noexcept
{
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    return failure == std::errc() && end == text.data() + text.size() && !text.empty();
}

/// "<slot> <host>:<port>"
redirection read_place(redirection::kind what, std::string_view text)
{
    redirection result;
    const std::size_t blank = text.find(' ');
    const std::size_t colon = text.rfind(':'); // the earlier colons belong to an IPv6 address
    if (blank == std::string_view::npos || colon == std::string_view::npos || colon < blank ||
        !read(text.substr(0, blank), result.slot) || result.slot >= slot_count ||
        !read(text.substr(colon + 1), result.where.port) || result.where.port == 0)
        return {.what = redirection::kind::try_again}; // not executed; there is no more information
    result.what = what;
    const std::string_view host = text.substr(blank + 1, colon - blank - 1);
    if (host != "?") // it does not know its own
        result.where.host = host;
    return result;
}

} // namespace

redirection read_redirection(std::string_view error)
{
    using kind = redirection::kind;
    const std::size_t blank = error.find(' ');
    const std::string_view code = error.substr(0, blank);
    const std::string_view rest = blank == std::string_view::npos ? std::string_view()
                                                                  : error.substr(blank + 1);
    if (code == "MOVED")
        return read_place(kind::moved, rest);
    if (code == "ASK")
        return read_place(kind::ask, rest);
    if (code == "TRYAGAIN")
        return {.what = kind::try_again};
    if (code == "CLUSTERDOWN")
        return {.what = kind::down};
    return {};
}

} // namespace leasehold::redis_store
