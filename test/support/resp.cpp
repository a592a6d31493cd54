#include "support/resp.hpp"

#include <charconv>

namespace leasehold::test {
namespace {

constexpr int max_depth = 32;

// Reads from the front of `rest`. Returns false if it ends too early.
class reader
{
public:
    explicit reader(std::string_view bytes) noexcept : bytes_(bytes) {}

    std::size_t used() const noexcept { return used_; }

    bool value(resp_value& out, int depth = 0)
    {
        if (depth > max_depth)
            throw resp_malformed("nested too deep");
        std::string_view head;
        if (used_ < bytes_.size() &&
            std::string_view("+-:,(_#$=!*~>%|").find(bytes_[used_]) == std::string_view::npos)
            throw resp_malformed("unknown type byte");
        if (!line(head) || head.empty())
            return false;
        const char type = head.front();
        head.remove_prefix(1);
        using kind = resp_value::kind;
        switch (type) {
        case '+': return text(out, kind::status, head);
        case '-': return text(out, kind::error, head);
        case ',':
        case '(': return text(out, kind::string, head);
        case ':':
            out.type = kind::integer;
            out.number = number(head);
            return true;
        case '#':
            out.type = kind::boolean;
            out.number = head == "t" ? 1 : 0;
            return true;
        case '_': return true;
        case '$': return bulk(out, kind::string, number(head), 0);
        case '=': return bulk(out, kind::string, number(head), 4); // "txt:" precedes it
        case '!': return bulk(out, kind::error, number(head), 0);
        case '*':
        case '~': return many(out, kind::array, number(head), depth);
        case '>': return many(out, kind::push, number(head), depth);
        case '%': return many(out, kind::array, 2 * number(head), depth);
        default: { // '|': attributes precede the value that they belong to
            resp_value ignored;
            return many(ignored, kind::array, 2 * number(head), depth) && value(out, depth + 1);
        }
        }
    }

private:
    bool line(std::string_view& out)
    {
        const std::size_t end = bytes_.find("\r\n", used_);
        if (end == std::string_view::npos)
            return false;
        out = bytes_.substr(used_, end - used_);
        used_ = end + 2;
        return true;
    }

    static std::int64_t number(std::string_view text)
    {
        std::int64_t result = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
        if (error != std::errc() || end != text.data() + text.size())
            throw resp_malformed("not a number");
        return result;
    }

    static bool text(resp_value& out, resp_value::kind type, std::string_view from)
    {
        out.type = type;
        out.text = from;
        return true;
    }

    bool bulk(resp_value& out, resp_value::kind type, std::int64_t size, std::size_t skip)
    {
        if (size < 0)
            return true;
        const std::size_t length = static_cast<std::size_t>(size);
        if (bytes_.size() - used_ < length + 2)
            return false;
        text(out, type, bytes_.substr(used_, length).substr(skip < length ? skip : length));
        used_ += length + 2;
        return true;
    }

    bool many(resp_value& out, resp_value::kind type, std::int64_t count, int depth)
    {
        if (count < 0)
            return true;
        out.type = type;
        for (std::int64_t i = 0; i < count; ++i)
            if (!value(out.items.emplace_back(), depth + 1))
                return false;
        return true;
    }

    std::string_view bytes_;
    std::size_t used_ = 0;
};

} // namespace

std::optional<std::pair<resp_value, std::size_t>> parse_resp(std::string_view bytes)
{
    reader from(bytes);
    resp_value value;
    if (!from.value(value))
        return std::nullopt;
    return std::pair(std::move(value), from.used());
}

std::string make_request(const std::vector<std::string>& words)
{
    std::string request;
    const auto head = [&](char type, std::size_t count) {
        request.append(1, type).append(std::to_string(count)).append("\r\n");
    };
    head('*', words.size());
    for (const std::string& word : words) {
        head('$', word.size());
        request.append(word).append("\r\n");
    }
    return request;
}

std::string describe(const resp_value& value)
{
    using kind = resp_value::kind;
    switch (value.type) {
    case kind::nil: return "nil";
    case kind::status: return value.text;
    case kind::error: return "error: " + value.text;
    case kind::integer: return std::to_string(value.number);
    case kind::boolean: return value.number != 0 ? "true" : "false";
    case kind::string: return '"' + value.text + '"';
    case kind::array:
    case kind::push: break;
    }
    std::string all = value.type == kind::push ? "push[" : "[";
    for (const resp_value& item : value.items)
        all.append(&item == value.items.data() ? "" : ", ").append(describe(item));
    return all + "]";
}

} // namespace leasehold::test
