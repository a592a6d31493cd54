#include "chaos/history.hpp"

#include <array>
#include <charconv>

namespace leasehold::test::chaos {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(verb::count_)> verbs = {
    "asked",   "given",     "granted", "failed",   "cancelled", "renewed",
    "lost",    "releasing", "dropped", "released", "read",      "stale",
    "writing", "wrote",     "refused", "stalled",  "closing",   "closed",
};

constexpr std::string_view nothing = "-";

std::string_view next_field(std::string_view& rest)
{
    const std::size_t end = rest.find(' ');
    const std::string_view field = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return field;
}

template <class Number>
bool read_number(std::string_view field, Number& to)
{
    const auto [end, failed] = std::from_chars(field.data(), field.data() + field.size(), to);
    return failed == std::errc() && end == field.data() + field.size();
}

std::string text_of(std::string_view field)
{
    return field == nothing ? std::string() : std::string(field);
}

std::string_view shown(std::string_view text)
{
    return text.empty() ? nothing : text;
}

} // namespace

std::string_view name_of(verb kind) noexcept
{
    return verbs[static_cast<std::size_t>(kind)];
}

std::string to_line(const event& e)
{
    std::string line = std::to_string(e.at.count());
    const auto add = [&](std::string_view field) {
        line += ' ';
        line += field;
    };
    add(name_of(e.what));
    add(shown(e.name));
    add(std::to_string(e.op));
    add(std::to_string(e.fence));
    add(std::to_string(e.number));
    add(e.flag ? "1" : "0");
    add(shown(e.word));
    line += '\n';
    return line;
}

std::optional<event> parse_line(std::string_view line)
{
    if (line.ends_with('\n'))
        line.remove_suffix(1);
    event out;
    std::int64_t at = 0;
    if (!read_number(next_field(line), at))
        return std::nullopt;
    out.at = stamp(at);
    const std::string_view kind = next_field(line);
    std::size_t index = 0;
    while (index < verbs.size() && verbs[index] != kind)
        ++index;
    if (index == verbs.size())
        return std::nullopt;
    out.what = static_cast<verb>(index);
    out.name = text_of(next_field(line));
    if (!read_number(next_field(line), out.op) || !read_number(next_field(line), out.fence) ||
        !read_number(next_field(line), out.number))
        return std::nullopt;
    const std::string_view flag = next_field(line);
    if (flag != "0" && flag != "1")
        return std::nullopt;
    out.flag = flag == "1";
    out.word = text_of(line);
    if (line.empty() || out.word.find(' ') != std::string::npos)
        return std::nullopt;
    return out;
}

void read_on(std::istream& from, history& to)
{
    from.clear();
    const auto started = from.tellg();
    std::string line;
    auto done = started;
    while (std::getline(from, line) && !from.eof()) {
        done += static_cast<std::streamoff>(line.size() + 1);
        if (auto read = parse_line(line))
            to.events.push_back(std::move(*read));
        else
            ++to.unreadable;
    }
    from.clear();
    from.seekg(done);
}

} // namespace leasehold::test::chaos
