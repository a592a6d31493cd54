#ifndef LEASEHOLD_TOOL_REDIS_KEY_SCAN_HPP
#define LEASEHOLD_TOOL_REDIS_KEY_SCAN_HPP

#include "server/servers.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::tool {

/// Walks through the keys of one type at one server, in steps. Each key that exists during the
/// whole walk is returned once or more.
class key_scan
{
public:
    enum class type : std::uint8_t
    {
        string,
        hash,
    };

    /// @param pattern A pattern of `SCAN`.
    key_scan(std::size_t place, std::string pattern, type of)
        : place_(place), pattern_(std::move(pattern)), type_(of)
    {}

    [[nodiscard]] bool done() const noexcept { return done_; }
    [[nodiscard]] std::size_t place() const noexcept { return place_; }
    [[nodiscard]] type of() const noexcept { return type_; }

    /// Returns the matching keys among the next thousand, approximately.
    /// @throws unreachable, refused
    [[nodiscard]] std::vector<std::string> next(servers& where);

    /// Leaves out the rest of the keys.
    void end() noexcept { done_ = true; }

private:
    std::size_t place_;
    std::string pattern_;
    type type_;
    std::string cursor_ = "0";
    bool done_ = false;
};

} // namespace leasehold::tool

#endif
