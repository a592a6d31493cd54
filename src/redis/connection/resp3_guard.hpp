#ifndef LEASEHOLD_SRC_REDIS_CONNECTION_RESP3_GUARD_HPP
#define LEASEHOLD_SRC_REDIS_CONNECTION_RESP3_GUARD_HPP

#include <leasehold/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace leasehold::redis_store {

/// Looks at what a server sends before a parser does, piece by piece, and stops at the first byte
/// that no Redis server sends: the parser of Boost.Redis throws out of a `noexcept` function, or
/// writes outside of its arrays, when it meets some of them (docs/internals/boost_redis_parser.md).
///
/// It follows lines, lengths and nesting, which is all that a parser's safety depends on; what the
/// values mean is for others to judge. The result does not depend on where the pieces end.
class resp3_guard
{
public:
    /// No reply that the library asks for has a hundredth of this size.
    static constexpr std::size_t default_limit = std::size_t(1) << 20;
    /// Arrays within arrays. What the library asks for has three.
    static constexpr std::size_t max_depth = 5;

    /// @param limit The size of one reply, in bytes.
    explicit resp3_guard(std::size_t limit = default_limit) noexcept : limit_(limit) {}

    /// How many of these bytes a parser may see: all, or those before the first that it must not.
    /// After that none, until `reset`.
    [[nodiscard]] std::size_t accept(std::string_view bytes) noexcept;

    /// Why not all were accepted, in the words of Boost.Redis; no error as long as all were.
    [[nodiscard]] const error_code& violation() const noexcept { return violation_; }

    /// A new connection begins.
    void reset() noexcept { *this = resp3_guard(limit_); }

private:
    enum class part : std::uint8_t
    {
        type,        ///< The first byte of a value.
        line,        ///< A text up to the end of the line.
        line_feed,   ///< What may be the end of that line.
        length,      ///< Digits up to the end of the line.
        length_feed, ///< The end of that line.
        blob,        ///< As many bytes as the length said.
        blob_return, ///< Behind a blob.
        blob_feed,
    };

    // Each takes from the front of what is there, or refuses the first byte that it leaves.
    void take_some(std::string_view& rest) noexcept;
    void take_type(std::string_view& rest) noexcept;
    void take_line(std::string_view& rest) noexcept;
    void take_line_feed(std::string_view& rest) noexcept;
    void take_length(std::string_view& rest) noexcept;
    void take_length_feed(std::string_view& rest) noexcept;
    void take_blob(std::string_view& rest) noexcept;
    void take_blob_return(std::string_view& rest) noexcept;
    void take_blob_feed(std::string_view& rest) noexcept;

    void take(std::string_view& rest, std::size_t size) noexcept;
    void end_value() noexcept;
    void refuse(error_code why) noexcept { violation_ = why; }

    std::size_t limit_;
    std::size_t size_ = 0; ///< Of the reply so far.
    part next_ = part::type;
    char type_ = 0;
    bool has_digit_ = false;
    bool negative_ = false;
    std::size_t number_ = 0; ///< The length so far; within a blob, what is missing of it.
    std::size_t depth_ = 0;
    std::array<std::size_t, max_depth> missing_{}; ///< Values, at each depth.
    error_code violation_;
};

} // namespace leasehold::redis_store

#endif
