// The first byte is the size of the pieces in which the rest arrives.
#include "fuzz/targets.hpp"

#include "redis/connection/resp3_guard.hpp"

#include <boost/redis/resp3/parser.hpp>

#include <boost/system/error_code.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

namespace leasehold::fuzz {
namespace {

using redis_store::resp3_guard;

// Small, so that an input of the fuzzer can exceed it.
constexpr std::size_t limit = 300;

/// The same rules, implemented a second time: recursive, with all bytes in memory, one reply after
/// another.
class reference
{
public:
    explicit reference(std::string_view bytes) : bytes_(bytes) {}

    struct verdict
    {
        std::size_t accepted = 0;
        bool refused = false;
        std::size_t replies = 0; ///< The number of complete replies.
    };

    verdict judge()
    {
        verdict result;
        while (result.accepted < bytes_.size()) {
            at_ = begin_ = result.accepted;
            const bool complete = read_value(0);
            result.accepted = at_;
            if (!complete) {
                result.refused = refused_;
                break;
            }
            ++result.replies;
        }
        return result;
    }

private:
    // Each function returns true when the value that it reads is complete. Otherwise `at_` is the
    // position where it ends.

    std::size_t room() const { return begin_ + limit - at_; }

    bool refuse()
    {
        refused_ = true;
        return false;
    }

    bool byte(char& c)
    {
        if (at_ == bytes_.size())
            return false;
        if (room() == 0)
            return refuse();
        c = bytes_[at_];
        return true;
    }

    bool exactly(std::string_view text)
    {
        for (const char wanted : text) {
            char c = 0;
            if (!byte(c) || (c != wanted && !refuse()))
                return false;
            ++at_;
        }
        return true;
    }

    bool line()
    {
        const std::size_t end = bytes_.find("\r\n", at_);
        const std::size_t size = end == std::string_view::npos ? bytes_.size() - at_
                                                               : end + 2 - at_;
        const bool fits = size <= room();
        at_ += std::min(size, room());
        if (!fits)
            return refuse();
        return end != std::string_view::npos;
    }

    // Reads up to the line feed, which is accepted only if the announced length is permitted. The
    // digits are checked one by one, because the first digit that makes the length too large is
    // rejected.
    bool length(bool has_null, std::optional<std::size_t>& result)
    {
        char c = 0;
        if (!byte(c))
            return false;
        const bool negative = has_null && c == '-';
        at_ += negative ? 1 : 0;
        std::size_t number = 0;
        std::size_t digits = 0;
        for (;; ++at_, ++digits) {
            if (!byte(c))
                return false;
            if (c < '0' || c > '9')
                break;
            number = number * 10 + static_cast<std::size_t>(c - '0');
            if (number > limit)
                return refuse();
        }
        if (c != '\r' || digits == 0 || (negative && number != 1))
            return refuse();
        ++at_;
        if (!byte(c) || (c != '\n' && !refuse()))
            return false;
        if (!negative)
            result = number;
        return true;
    }

    bool read_value(std::size_t depth)
    {
        char type = 0;
        if (!byte(type))
            return false;
        if (std::string_view("+-:,#(_").find(type) != std::string_view::npos) {
            ++at_;
            return line();
        }
        const bool blob = std::string_view("$!=").find(type) != std::string_view::npos;
        const bool aggregate = std::string_view("*%~>|").find(type) != std::string_view::npos;
        if (!blob && !aggregate)
            return refuse();
        ++at_;
        std::optional<std::size_t> size;
        if (!length(type == '$' || type == '*', size))
            return false;
        const std::size_t behind = room() - 1; // the line feed is there, but not accepted yet
        const std::size_t values = size && (type == '%' || type == '|') ? 2 * *size
                                                                        : size.value_or(0);
        if (size && blob && *size + 2 > behind)
            return refuse();
        if (aggregate && (3 * values > behind || (values != 0 && depth == resp3_guard::max_depth)))
            return refuse();
        ++at_;
        if (!size)
            return true;
        if (blob) {
            const std::size_t there = std::min(*size, bytes_.size() - at_);
            at_ += there;
            return there == *size && exactly("\r\n");
        }
        for (std::size_t i = 0; i < values; ++i)
            if (!read_value(depth + 1))
                return false;
        return true;
    }

    std::string_view bytes_;
    std::size_t begin_ = 0;
    std::size_t at_ = 0;
    bool refused_ = false;
};

std::size_t accepted_in_pieces(resp3_guard& guard, std::string_view bytes, std::size_t size)
{
    std::size_t accepted = 0;
    while (accepted < bytes.size()) {
        const std::string_view piece = bytes.substr(accepted, size);
        const std::size_t taken = guard.accept(piece);
        accepted += taken;
        if (taken < piece.size())
            break;
    }
    return accepted;
}

// As a connection does, with each piece added to the buffer. Returns the number of replies that
// were read; empty: the parser rejected bytes that the guard does not check.
std::optional<std::size_t> parsed(std::string_view bytes, std::size_t size)
{
    boost::redis::resp3::parser parser;
    std::size_t replies = 0;
    std::size_t begin = 0;
    for (std::size_t end = 0; end < bytes.size();) {
        end = std::min(end + size, bytes.size());
        while (begin < end) {
            boost::system::error_code failed;
            while (!parser.done()) {
                const auto node = parser.consume(bytes.substr(begin, end - begin), failed);
                if (failed)
                    return std::nullopt;
                if (!node)
                    break;
            }
            if (!parser.done())
                break;
            begin += parser.get_consumed();
            parser.reset();
            ++replies;
        }
    }
    return replies;
}

} // namespace

void guard(std::string_view input)
{
    if (input.empty())
        return;
    const std::size_t size = static_cast<unsigned char>(input.front()) % 32 + 1u;
    input.remove_prefix(1);
    const reference::verdict wanted = reference(input).judge();

    resp3_guard whole(limit);
    const std::size_t accepted = whole.accept(input);
    require(accepted == wanted.accepted, "other bytes are accepted than should be", input);
    require(static_cast<bool>(whole.violation()) == wanted.refused,
            "a violation where there is none, or none", input);
    require(!wanted.refused || whole.accept("+OK\r\n") == 0,
            "something is accepted after a violation", input);

    resp3_guard split(limit);
    require(accepted_in_pieces(split, input, size) == accepted, "pieces change what is accepted",
            input);
    require(split.violation() == whole.violation(), "pieces change why it is refused", input);

    const std::string_view seen = input.substr(0, accepted);
    const auto replies = parsed(seen, size);
    require(!replies || *replies == wanted.replies, "the parser sees other replies than the guard",
            input);
}

} // namespace leasehold::fuzz
