#include <leasehold/extras/guard/http.hpp>

#include "extras/guard/fence_text.hpp"

namespace leasehold::guard {

std::uint64_t fence_of_http(std::optional<std::string_view> field, error_code& failed) noexcept
{
    failed = {};
    if (!field) {
        failed = errc::missing_fence;
        return 0;
    }
    static constexpr std::string_view blanks = " \t";
    const std::size_t begin = field->find_first_not_of(blanks);
    const std::string_view digits = begin == std::string_view::npos
                                        ? std::string_view()
                                        : field->substr(begin, field->find_last_not_of(blanks) + 1 -
                                                                   begin);
    const std::uint64_t fence = fence_of(digits);
    if (fence == 0)
        failed = errc::invalid_fence;
    return fence;
}

unsigned http_status(error_code result) noexcept
{
    if (!result)
        return 204;
    if (result == errc::stale_fence)
        return 412;
    if (result == errc::missing_fence)
        return 428;
    return result == errc::invalid_fence ? 400 : 500;
}

} // namespace leasehold::guard
