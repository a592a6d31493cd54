#include "redis/connection/resp3_guard.hpp"

#include <boost/redis/error.hpp>

#include <algorithm>

namespace leasehold::redis_store {
namespace {

using boost::redis::error;

// The size of a value: a type and the end of the line.
constexpr std::size_t smallest_size = 3;

bool is_digit(char c) noexcept
{
    return c >= '0' && c <= '9';
}

} // namespace

std::size_t resp3_guard::accept(std::string_view bytes) noexcept
{
    std::string_view rest = bytes;
    while (!rest.empty() && !violation_)
        take_some(rest);
    return bytes.size() - rest.size();
}

void resp3_guard::take_some(std::string_view& rest) noexcept
{
    if (size_ == limit_)
        return refuse(error::exceeds_maximum_read_buffer_size);
    switch (next_) {
    case part::type: return take_type(rest);
    case part::line: return take_line(rest);
    case part::line_feed: return take_line_feed(rest);
    case part::length: return take_length(rest);
    case part::length_feed: return take_length_feed(rest);
    case part::blob: return take_blob(rest);
    case part::blob_return: return take_blob_return(rest);
    case part::blob_feed: return take_blob_feed(rest);
    }
}

// Streamed strings and their parts are not among the types: no server sends them, and the parser
// cannot nest them.
void resp3_guard::take_type(std::string_view& rest) noexcept
{
    type_ = rest.front();
    switch (type_) {
    case '+':
    case '-':
    case ':':
    case ',':
    case '#':
    case '(':
    case '_':
        take(rest, 1);
        next_ = part::line;
        return take_line(rest);
    case '$':
    case '!':
    case '=':
    case '*':
    case '%':
    case '~':
    case '>':
    case '|':
        take(rest, 1);
        next_ = part::length;
        number_ = 0;
        has_digit_ = false;
        negative_ = false;
        return take_length(rest);
    default: refuse(error::invalid_data_type);
    }
}

void resp3_guard::take_line(std::string_view& rest) noexcept
{
    const std::string_view line = rest.substr(0, limit_ - size_);
    const std::size_t end = line.find('\r');
    if (end == std::string_view::npos)
        return take(rest, line.size());
    take(rest, end + 1);
    next_ = part::line_feed;
    if (!rest.empty() && size_ != limit_)
        take_line_feed(rest);
}

// A line ends with both; a '\r' alone belongs to the text.
void resp3_guard::take_line_feed(std::string_view& rest) noexcept
{
    const char c = rest.front();
    take(rest, 1);
    if (c == '\n')
        end_value();
    else if (c != '\r')
        next_ = part::line;
}

void resp3_guard::take_length(std::string_view& rest) noexcept
{
    const std::string_view length = rest.substr(0, limit_ - size_);
    std::size_t digits = 0;
    for (; digits != length.size() && is_digit(length[digits]) && number_ <= limit_; ++digits)
        number_ = 10 * number_ + static_cast<std::size_t>(length[digits] - '0');
    if (number_ > limit_) {
        take(rest, digits - 1);
        return refuse(error::exceeds_maximum_read_buffer_size);
    }
    take(rest, digits);
    has_digit_ = has_digit_ || digits != 0;
    if (digits == length.size())
        return;
    const char c = rest.front();
    if (c == '\r' && has_digit_ && (!negative_ || number_ == 1)) {
        take(rest, 1);
        next_ = part::length_feed;
        if (!rest.empty() && size_ != limit_)
            take_length_feed(rest);
    }
    else if (c == '-' && !has_digit_ && !negative_ && (type_ == '$' || type_ == '*')) {
        take(rest, 1);
        negative_ = true; // -1, the null of the older protocol
    }
    else {
        refuse(c == '\r' && !has_digit_ ? error::empty_field : error::not_a_number);
    }
}

// The end of the line is accepted only if the announced length is permitted.
void resp3_guard::take_length_feed(std::string_view& rest) noexcept
{
    if (rest.front() != '\n')
        return refuse(error::not_a_number);
    const std::size_t room = limit_ - size_ - 1;
    const bool is_text = type_ == '$' || type_ == '!' || type_ == '=';
    // An attribute counts as an element, as in the parser, though not in the protocol.
    const std::size_t values = type_ == '%' || type_ == '|' ? 2 * number_ : number_;
    if (negative_ || (!is_text && values == 0)) {
        take(rest, 1);
        end_value();
    }
    else if (room < (is_text ? number_ + 2 : values * smallest_size)) {
        refuse(error::exceeds_maximum_read_buffer_size);
    }
    else if (is_text) {
        take(rest, 1);
        next_ = part::blob;
    }
    else if (depth_ == max_depth) {
        refuse(error::exceeeds_max_nested_depth);
    }
    else {
        take(rest, 1);
        next_ = part::type;
        missing_[depth_++] = values;
    }
}

void resp3_guard::take_blob(std::string_view& rest) noexcept
{
    const std::size_t there = std::min(number_, rest.size());
    take(rest, there);
    number_ -= there;
    if (number_ == 0)
        next_ = part::blob_return;
}

void resp3_guard::take_blob_return(std::string_view& rest) noexcept
{
    if (rest.front() != '\r')
        return refuse(error::incompatible_size);
    take(rest, 1);
    next_ = part::blob_feed;
}

void resp3_guard::take_blob_feed(std::string_view& rest) noexcept
{
    if (rest.front() != '\n')
        return refuse(error::incompatible_size);
    take(rest, 1);
    end_value();
}

void resp3_guard::take(std::string_view& rest, std::size_t size) noexcept
{
    rest.remove_prefix(size);
    size_ += size;
}

void resp3_guard::end_value() noexcept
{
    next_ = part::type;
    while (depth_ != 0 && --missing_[depth_ - 1] == 0)
        --depth_;
    if (depth_ == 0)
        size_ = 0;
}

} // namespace leasehold::redis_store
