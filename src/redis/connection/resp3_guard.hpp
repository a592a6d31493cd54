#ifndef LEASEHOLD_SRC_REDIS_CONNECTION_RESP3_GUARD_HPP
#define LEASEHOLD_SRC_REDIS_CONNECTION_RESP3_GUARD_HPP

#include <leasehold/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace leasehold::redis_store {

/// Checks the bytes of a server before a parser reads them, piece by piece, and stops at the first
/// byte that no Redis server sends. For some of them the parser of Boost.Redis throws out of a
/// `noexcept` function, or writes outside of its arrays (docs/internals/boost_redis_parser.md).
///
/// It checks lines, lengths and nesting, because a parser's safety depends only on these, and not
/// the meaning of values. The result does not depend on where the pieces end.
class resp3_guard
{
public:
    /// More than a hundred times the size of any reply that the library requests.
    static constexpr std::size_t default_limit = std::size_t(1) << 20;
    /// Arrays within arrays. The library's requests need three.
    static constexpr std::size_t max_depth = 5;

    /// @param limit The size of one reply, in bytes.
    explicit resp3_guard(std::size_t limit = default_limit) noexcept : limit_(limit) {}

    /// Returns the number of bytes that a parser may read: all, or those before the first forbidden
    /// one. After that it returns 0 until `reset`.
    [[nodiscard]] std::size_t accept(std::string_view bytes) noexcept;

    /// The reason of a rejection, as an error of Boost.Redis. No error if all bytes were accepted.
    [[nodiscard]] const error_code& violation() const noexcept { return violation_; }

    /// A new connection begins.
    void reset() noexcept { *this = resp3_guard(limit_); }

private:
    enum class part : std::uint8_t
    {
        type,        ///< The first byte of a value.
        line,        ///< A text up to the end of the line.
        line_feed,   ///< The possible end of that line.
        length,      ///< Digits up to the end of the line.
        length_feed, ///< The end of that line.
        blob,        ///< As many bytes as the length announced.
        blob_return, ///< Behind a blob.
        blob_feed,
    };

    // Each takes bytes from the front, or rejects the first byte that it leaves.
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
    std::size_t number_ = 0; ///< The length so far; within a blob, its missing bytes.
    std::size_t depth_ = 0;
    std::array<std::size_t, max_depth> missing_{}; ///< Missing values, at each depth.
    error_code violation_;
};

} // namespace leasehold::redis_store

#endif
