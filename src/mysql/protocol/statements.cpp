#include "mysql/protocol/statements.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <variant>

namespace leasehold::mysql_store {
namespace {

using sql_store::argument;
using sql_store::procedure;

const char* procedure_name(procedure which) noexcept
{
    switch (which) {
    case procedure::acquire: return "leasehold_acquire";
    case procedure::release: return "leasehold_release";
    case procedure::renew: return "leasehold_renew";
    case procedure::introduce: return "leasehold_introduce";
    case procedure::describe: return "leasehold_describe";
    case procedure::sweep: return "leasehold_sweep";
    case procedure::held: return "leasehold_held";
    case procedure::queue: return "leasehold_queue";
    case procedure::remove: return "leasehold_remove";
    case procedure::query: break;
    }
    return "";
}

// In hexadecimal digits, a text needs no escapes and has no character set.
std::string bytes_literal(std::string_view bytes)
{
    return "x'" + hex(bytes) + "'";
}

std::string literal(const argument& value)
{
    if (const auto* const number = std::get_if<std::int64_t>(&value))
        return std::to_string(*number);
    if (const auto* const bytes = std::get_if<std::string>(&value))
        return bytes_literal(*bytes);
    return "null";
}

std::string digits(std::int64_t number, std::size_t width)
{
    const std::string text = std::to_string(number);
    return std::string(width - std::min(width, text.size()), '0') + text;
}

std::string batch_of(const std::vector<argument>& all, std::vector<std::size_t>& order)
{
    constexpr std::size_t each = 4; // name, owner, entry, lease
    const auto text = [&](std::size_t renewal, std::size_t column) -> const std::string& {
        return std::get<std::string>(all[each * renewal + column]);
    };
    order.resize(all.size() / each);
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return text(a, 0) < text(b, 0); });
    std::string batch;
    for (const std::size_t i : order) {
        batch += digits(std::get<std::int64_t>(all[each * i + 3]), 16);
        for (std::size_t column = 0; column < 3; ++column)
            batch += digits(static_cast<std::int64_t>(text(i, column).size()), 4);
        for (std::size_t column = 0; column < 3; ++column)
            batch += text(i, column);
    }
    return batch;
}

} // namespace

std::string hex(std::string_view bytes)
{
    constexpr char all[] = "0123456789ABCDEF";
    std::string text;
    text.reserve(2 * bytes.size());
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += all[byte >> 4];
        text += all[byte & 15];
    }
    return text;
}

std::string text_of(const sql_store::call& made, std::vector<std::size_t>& order)
{
    if (made.what == procedure::query)
        return std::get<std::string>(made.arguments.at(0));
    std::string text = "call ";
    text.append(procedure_name(made.what)).append("(");
    if (made.what == procedure::renew)
        return text + bytes_literal(batch_of(made.arguments, order)) + ")";
    const char* comma = "";
    for (const argument& each : made.arguments) {
        text.append(comma).append(literal(each));
        comma = ",";
    }
    return text + (made.what == procedure::acquire ? ",0)" : ")"); // not quiet
}

} // namespace leasehold::mysql_store
