#include "redis/protocol/reply.hpp"

#include "base/mutant.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace leasehold::redis_store {
namespace {

struct known
{
    std::string_view code;
    errc meaning;
};

// Errors that come before anything was written.
constexpr std::array codes{
    known{"WRONGTYPE", errc::wrong_type},     known{"NOAUTH", errc::permission_denied},
    known{"NOPERM", errc::permission_denied}, known{"WRONGPASS", errc::permission_denied},
    known{"DENIED", errc::permission_denied}, known{"NOPROTO", errc::not_supported},
    known{"CROSSSLOT", errc::not_supported},  known{"NOSCRIPT", errc::store_refused},
    known{"BUSY", errc::store_refused},       known{"LOADING", errc::store_refused},
    known{"READONLY", errc::store_refused},   known{"OOM", errc::store_refused},
    known{"MOVED", errc::store_refused},      known{"ASK", errc::store_refused},
    known{"TRYAGAIN", errc::store_refused},   known{"CLUSTERDOWN", errc::store_refused},
    known{"MASTERDOWN", errc::store_refused}, known{"NOREPLICAS", errc::store_refused},
    known{"MISCONF", errc::store_refused},
};

// The beginnings of errors without a code of their own.
constexpr std::array beginnings{
    known{"ERR invalid password", errc::permission_denied},
    known{"ERR Client sent AUTH", errc::permission_denied},
    known{"ERR AUTH", errc::permission_denied},
    known{"ERR Key should be of string type", errc::wrong_type}, // the text of DELEX
    // Renamed, or missing in this version or this product.
    known{"ERR unknown command", errc::not_supported},
    known{"ERR unknown subcommand", errc::not_supported},
    known{"ERR Unknown subcommand", errc::not_supported},
    known{"ERR wrong number of arguments", errc::not_supported},
    known{"ERR Error compiling script", errc::not_supported},
    known{"ERR SELECT is not allowed in cluster mode", errc::not_supported},
    known{"ERR DB index is out of range", errc::invalid_option},
    known{"ERR invalid DB index", errc::invalid_option},
};

// The frames in which servers report the error of a command inside a script.
constexpr std::array in_scripts{
    known{"Unknown Redis command", errc::not_supported},
    known{"Unknown command called from script", errc::not_supported},
    known{"command is not allowed from script", errc::not_supported},
    known{"non local key in a cluster node", errc::not_supported},
    known{"do not hash to the same slot", errc::not_supported},
    known{"user executing the script can't", errc::permission_denied},
    known{"ACL failure in script", errc::permission_denied},
};

const known* find_code(std::string_view word)
{
    if (word.starts_with('-'))
        word.remove_prefix(1);
    // Codes are in capitals. Most words are rejected by this, without a search.
    if (word.size() < 3 || word[1] < 'A' || word[1] > 'Z')
        return nullptr;
    const auto found = std::find_if(codes.begin(), codes.end(),
                                    [&](const known& k) { return k.code == word; });
    return found == codes.end() ? nullptr : &*found;
}

std::string_view next_word(std::string_view& text)
{
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    text.remove_prefix(end);
    return word;
}

// The code is the first word, except that servers before 7.0 wrap the error inside a script: "ERR
// Error running script (call to f_…): @user_script:3: -READONLY You can't write …".
const known* code_of(std::string_view text)
{
    const bool wrapped = text.starts_with("ERR Error ");
    if (const known* code = find_code(next_word(text)); code != nullptr || !wrapped)
        return code;
    while (!text.empty()) {
        if (const known* code = find_code(next_word(text)))
            return code;
    }
    return nullptr;
}

} // namespace

void reply::record(const boost::redis::resp3::node_view& node)
{
    using boost::redis::resp3::type;
    switch (node.data_type) {
    case type::simple_error:
    case type::blob_error:
        odd |= node.depth != 0;
        error.assign(node.value.empty() ? std::string_view("ERR") : node.value);
        break;
    case type::array:
        odd |= node.depth != 0;
        numbers.reserve(std::min<std::size_t>(node.aggregate_size, 4096));
        break;
    case type::null: odd |= node.depth != 0; break;
    case type::simple_string: odd |= node.depth != 0; [[fallthrough]];
    case type::verbatim_string:
    case type::blob_string:
        if (node.depth == 0) {
            text.emplace(node.value);
            break;
        }
        [[fallthrough]];
    case type::number: {
        std::int64_t value = 0;
        const char* const end = node.value.data() + node.value.size();
        const auto [last, failure] = std::from_chars(node.value.data(), end, value);
        if (failure != std::errc() || last != end || node.depth > 1)
            odd = true;
        else
            numbers.push_back(value);
        break;
    }
    default: odd = true;
    }
}

errc classify(std::string_view text)
{
    if (const known* code = code_of(text))
        return code->meaning;
    for (const known& each : beginnings) {
        if (text.starts_with(each.code))
            return each.meaning;
    }
    for (const known& each : in_scripts) {
        if (text.find(each.code) != std::string_view::npos)
            return each.meaning;
    }
    const bool in_script = text.find("script") != std::string_view::npos;
    return in_script ? errc::outcome_unknown : errc::store_refused;
}

bool is_script_missing(std::string_view text)
{
    return text.starts_with("NOSCRIPT");
}

std::string_view find_words(std::string_view text)
{
    const auto line_from = [&](std::size_t begin) {
        return text.substr(begin, text.find_first_of("\r\n", begin) - begin);
    };
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::string_view word = next_word(rest);
        if (find_code(word) != nullptr)
            return line_from(static_cast<std::size_t>(word.data() - text.data()));
    }
    // Without a code of its own: "ERR invalid password".
    if (const std::size_t at = text.find("ERR "); at != std::string_view::npos)
        return line_from(at);
    return {};
}

bool is_not_serving(std::string_view text)
{
    return (text.starts_with("LOADING") && !has(mutant::loading_is_up)) ||
           text.starts_with("BUSY ") || text.starts_with("MASTERDOWN");
}

bool is_login_rejected(std::string_view text)
{
    constexpr std::array<std::string_view, 5> rejections{
        "WRONGPASS", "NOAUTH", "ERR invalid password", "ERR Client sent AUTH", "ERR AUTH"};
    return std::any_of(rejections.begin(), rejections.end(),
                       [&](std::string_view each) { return text.starts_with(each); });
}

std::string hello_rejection(std::string_view text)
{
    const auto has = [&](auto... any) { return ((text.find(any) != text.npos) || ...); };
    // A missing right to HELLO, and a missing password, are other errors.
    const bool rejected = text.starts_with("NOPROTO") ||
                          (classify(text) != errc::permission_denied && has("HELLO", "hello")) ||
                          (has("unknown command", "unsupported command") &&
                           !has("SELECT", "select"));
    if (!rejected)
        return {};
    std::string made(text.substr(0, text.find(", with args")));
    return made += " (HELLO is rejected: the server, or a proxy before it, does not support RESP3)";
}

bool is_read_only(std::string_view text)
{
    const known* code = code_of(text);
    return code != nullptr && code->code == "READONLY";
}

bool is_without_room(std::string_view text)
{
    const known* code = code_of(text);
    return code != nullptr &&
           (code->code == "OOM" || code->code == "MISCONF" || code->code == "NOREPLICAS");
}

} // namespace leasehold::redis_store
