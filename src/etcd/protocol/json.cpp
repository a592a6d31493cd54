#include "etcd/protocol/json.hpp"

#include "base/base64.hpp"
#include "base/url.hpp"

namespace leasehold::etcd_store {

/// Reads one text. Each function returns false if the text is malformed.
class json_reader
{
public:
    explicit json_reader(std::string_view text) noexcept : rest_(text) {}

    bool whole(json& to)
    {
        if (!value(to, 0))
            return false;
        skip_space();
        return rest_.empty();
    }

private:
    static constexpr int deepest = 32;

    bool value(json& to, int depth)
    {
        skip_space();
        if (rest_.empty() || depth > deepest)
            return false;
        switch (rest_.front()) {
        case '{': return object(to, depth);
        case '[': return array(to, depth);
        case '"': to.kind_ = json::kind::string; return string(to.text_);
        case 't': to.kind_ = json::kind::boolean; return to.true_ = word("true");
        case 'f': to.kind_ = json::kind::boolean; return word("false");
        case 'n': return word("null");
        default: return number(to);
        }
    }

    bool object(json& to, int depth)
    {
        to.kind_ = json::kind::object;
        return list('}', [&] {
            skip_space();
            to.names_.emplace_back();
            to.elements_.emplace_back();
            if (!string(to.names_.back()))
                return false;
            skip_space();
            return take(':') && value(to.elements_.back(), depth + 1);
        });
    }

    bool array(json& to, int depth)
    {
        to.kind_ = json::kind::array;
        return list(']', [&] {
            to.elements_.emplace_back();
            return value(to.elements_.back(), depth + 1);
        });
    }

    /// Elements between commas, from the opening mark to the closing one.
    template <class Element>
    bool list(char end, Element element)
    {
        rest_.remove_prefix(1);
        skip_space();
        if (take(end))
            return true;
        while (element()) {
            skip_space();
            if (take(end))
                return true;
            if (!take(','))
                return false;
        }
        return false;
    }

    bool string(std::string& to)
    {
        if (!take('"'))
            return false;
        while (!rest_.empty()) {
            const char c = rest_.front();
            rest_.remove_prefix(1);
            if (c == '"')
                return true;
            if (static_cast<unsigned char>(c) < ' ')
                return false;
            if (c != '\\')
                to += c;
            else if (!escape(to))
                return false;
        }
        return false;
    }

    bool escape(std::string& to)
    {
        constexpr std::string_view marks = "\"\\/bfnrt";
        constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
        if (rest_.empty())
            return false;
        const char mark = rest_.front();
        rest_.remove_prefix(1);
        if (mark == 'u')
            return unicode(to);
        const std::size_t at = marks.find(mark);
        if (at == marks.npos)
            return false;
        to += meant[at];
        return true;
    }

    /// The gateway escapes only characters of ASCII, and of texts for people.
    bool unicode(std::string& to)
    {
        std::uint32_t code = 0;
        if (rest_.size() < 4)
            return false;
        for (int i = 0; i < 4; ++i) {
            const char c = rest_.front();
            const int digit = c >= '0' && c <= '9'   ? c - '0'
                              : c >= 'a' && c <= 'f' ? c - 'a' + 10
                              : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                     : -1;
            if (digit < 0)
                return false;
            code = code * 16 + static_cast<std::uint32_t>(digit);
            rest_.remove_prefix(1);
        }
        to += code < 0x80 ? static_cast<char>(code) : '?';
        return true;
    }

    bool number(json& to)
    {
        to.kind_ = json::kind::number;
        const std::size_t size = std::min(rest_.find_first_not_of("+-.0123456789eE"), rest_.size());
        to.text_ = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return size != 0;
    }

    bool word(std::string_view expected)
    {
        if (!rest_.starts_with(expected))
            return false;
        rest_.remove_prefix(expected.size());
        return true;
    }

    bool take(char expected)
    {
        if (rest_.empty() || rest_.front() != expected)
            return false;
        rest_.remove_prefix(1);
        return true;
    }

    void skip_space()
    {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
    }

    std::string_view rest_;
};

std::optional<json> json::parse(std::string_view text)
{
    json result;
    if (!json_reader(text).whole(result))
        return std::nullopt;
    return result;
}

const json& json::operator[](std::string_view name) const noexcept
{
    static const json none;
    for (std::size_t i = 0; i < names_.size(); ++i) {
        if (names_[i] == name)
            return elements_[i];
    }
    return none;
}

std::optional<std::int64_t> json::integer() const noexcept
{
    std::int64_t value = 0;
    if (kind_ != kind::null && !detail::read_number(text_, value))
        return std::nullopt;
    return value;
}

std::optional<std::uint64_t> json::natural() const noexcept
{
    std::uint64_t value = 0;
    if (kind_ != kind::null && !detail::read_number(text_, value))
        return std::nullopt;
    return value;
}

std::optional<std::string> json::bytes() const
{
    if (kind_ == kind::null)
        return std::string();
    return kind_ == kind::string ? detail::decode_base64(text_) : std::nullopt;
}

std::string json_string(std::string_view text)
{
    std::string result = "\"";
    for (const char c : text) {
        constexpr char digits[] = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            result.append({'\\', c});
        else if (byte < ' ')
            result.append({'\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15]});
        else
            result += c;
    }
    return result += '"';
}

} // namespace leasehold::etcd_store
