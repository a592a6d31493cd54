#include "resp.hpp"

#include <charconv>
#include <system_error>
#include <utility>

namespace leasehold::tool {
namespace {

using value_kind = resp_value::kind;

constexpr std::size_t largest_answer = std::size_t(256) << 20;
constexpr int deepest = 64;

/// Reads one value from the beginning of the received bytes. If the value is incomplete, it returns
/// nothing, and the caller retries when more bytes have arrived.
class parser
{
public:
    explicit parser(std::string_view bytes) : rest_(bytes) {}

    [[nodiscard]] std::string_view rest() const noexcept { return rest_; }
    [[nodiscard]] bool is_push() const noexcept { return push_; }

    std::optional<resp_value> read(int depth = 0)
    {
        if (depth > deepest)
            throw resp_error("a reply is nested too deeply");
        const auto head = line();
        if (!head)
            return std::nullopt;
        if (head->empty())
            throw resp_error("a reply is not RESP");
        const std::string_view body = head->substr(1);
        switch (head->front()) {
        case '+':
        case ',':
        case '(': return text(body);
        case '#': return text(body == "t" ? "true" : "false");
        case '-': return error(body);
        case ':': {
            resp_value value;
            value.type = value_kind::number;
            value.number = number(body);
            return value;
        }
        case '_': return resp_value{};
        case '$':
        case '=':
        case '!': return bulk(head->front(), number(body));
        case '*':
        case '~': return list(number(body), depth);
        case '%': return list(doubled(number(body)), depth);
        case '>': push_ = depth == 0; return list(number(body), depth);
        case '|': { // attributes of the value after them
            if (!list(doubled(number(body)), depth))
                return std::nullopt;
            return read(depth + 1);
        }
        default: throw resp_error("a reply is not RESP");
        }
    }

private:
    std::optional<std::string_view> line()
    {
        const std::size_t end = rest_.find("\r\n");
        if (end == std::string_view::npos)
            return std::nullopt;
        const std::string_view found = rest_.substr(0, end);
        rest_.remove_prefix(end + 2);
        return found;
    }

    static std::int64_t number(std::string_view text)
    {
        std::int64_t value = 0;
        const char* const end = text.data() + text.size();
        const auto [stopped, failed] = std::from_chars(text.data(), end, value);
        if (failed != std::errc() || stopped != end)
            throw resp_error("a reply is not RESP");
        return value;
    }

    static std::int64_t doubled(std::int64_t pairs)
    {
        if (pairs > static_cast<std::int64_t>(largest_answer))
            throw resp_error("a reply is too large");
        return pairs * 2;
    }

    static resp_value text(std::string_view words)
    {
        resp_value value;
        value.type = value_kind::text;
        value.text = words;
        return value;
    }

    static resp_value error(std::string_view words)
    {
        resp_value value = text(words);
        value.type = value_kind::error;
        return value;
    }

    std::optional<resp_value> bulk(char type, std::int64_t size)
    {
        if (size < 0)
            return resp_value{};
        if (size > static_cast<std::int64_t>(largest_answer))
            throw resp_error("a reply is too large");
        const auto length = static_cast<std::size_t>(size);
        if (rest_.size() < length + 2)
            return std::nullopt;
        std::string_view body = rest_.substr(0, length);
        if (rest_.substr(length, 2) != "\r\n")
            throw resp_error("a reply is not RESP");
        rest_.remove_prefix(length + 2);
        if (type == '!')
            return error(body);
        if (type == '=' && length >= 4) // a prefix such as "txt:" gives the format
            body.remove_prefix(4);
        return text(body);
    }

    std::optional<resp_value> list(std::int64_t size, int depth)
    {
        if (size < 0)
            return resp_value{};
        resp_value value;
        value.type = value_kind::list;
        for (std::int64_t i = 0; i < size; ++i) {
            auto item = read(depth + 1);
            if (!item)
                return std::nullopt;
            value.items.push_back(std::move(*item));
        }
        return value;
    }

    std::string_view rest_;
    bool push_ = false;
};

} // namespace

bool resp_value::is_error(std::string_view code) const noexcept
{
    return is_error() && std::string_view(text).substr(0, text.find(' ')) == code;
}

std::optional<std::int64_t> resp_value::to_number() const noexcept
{
    if (type == value_kind::number)
        return number;
    if (type != value_kind::text)
        return std::nullopt;
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, failed] = std::from_chars(text.data(), end, value);
    if (failed != std::errc() || stopped != end)
        return std::nullopt;
    return value;
}

const resp_value* resp_value::find(std::string_view key) const noexcept
{
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
        if (items[i].type == value_kind::text && items[i].text == key)
            return &items[i + 1];
    }
    return nullptr;
}

void append_command(const command_words& words, std::string& to)
{
    to.append("*").append(std::to_string(words.size())).append("\r\n");
    for (const std::string& each : words)
        to.append("$")
            .append(std::to_string(each.size()))
            .append("\r\n")
            .append(each)
            .append("\r\n");
}

std::optional<resp_value> resp_reader::next()
{
    for (;;) {
        parser parsing(std::string_view(bytes_).substr(begin_));
        auto value = parsing.read();
        if (!value) {
            if (bytes_.size() - begin_ > largest_answer)
                throw resp_error("a reply is too large");
            return std::nullopt;
        }
        const bool push = parsing.is_push();
        begin_ = bytes_.size() - parsing.rest().size();
        if (!push)
            return value;
    }
}

} // namespace leasehold::tool
