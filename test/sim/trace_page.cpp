#include "sim/trace_page.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

namespace leasehold::test::sim {
namespace {

using report::look;

std::string_view trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(' ');
    return first == text.npos ? std::string_view() : text.substr(first);
}

std::string_view first_word(std::string_view text)
{
    return text.substr(0, text.find(' '));
}

/// Such as `h0` or `s12`.
bool is_numbered(std::string_view word, char kind)
{
    return word.size() > 1 && word[0] == kind &&
           std::all_of(word.begin() + 1, word.end(),
                       [](unsigned char c) { return std::isdigit(c); });
}

bool has(std::string_view text, std::string_view part)
{
    return text.find(part) != text.npos;
}

/// The text after a word, up to the next space or comma.
std::string after(std::string_view text, std::string_view word)
{
    const auto at = text.find(word);
    if (at == text.npos)
        return {};
    text.remove_prefix(at + word.size());
    return std::string(text.substr(0, text.find_first_of(" ,")));
}

} // namespace

void trace_page::add(std::string_view line)
{
    const std::string all(line);
    char* end = nullptr;
    const double at = std::strtod(all.c_str(), &end);
    std::string_view text = trimmed(std::string_view(end));
    if (end == all.c_str() || text.empty())
        return;
    const std::string who(first_word(text));
    const bool server = who == "server" || is_numbered(who, 's');
    if (!server && !is_numbered(who, 'h'))
        return of_run(at, text);
    text = trimmed(text.substr(who.size()));
    if (server)
        of_server(who, at, text);
    else
        of_process(who, at, text);
}

void trace_page::of_run(double at, std::string_view text)
{
    page_.mark(page_.lane("run"), at, text.starts_with("WRONG") ? look::wrong : look::message,
               std::string(text));
}

void trace_page::of_process(const std::string& host, double at, std::string_view text)
{
    const std::size_t lane = page_.lane(host);
    if (text.starts_with("FAULT")) {
        // The text ends with its duration.
        std::istringstream words{std::string(text)};
        std::vector<std::string> all;
        for (std::string word; words >> word;)
            all.push_back(word);
        const bool lasts = all.size() > 2 && all.back() == "ms";
        const double time = lasts ? std::atof(all[all.size() - 2].c_str()) / 1000 : 0;
        const auto number = page_.begin_bar(page_.lane(host + " faults"), at, look::fault,
                                            std::string(text.substr(6)), std::string(text));
        return page_.end_bar(number, at + time);
    }
    const std::string operation = host + std::string(first_word(text));
    if (has(text, " has the lock, fence ")) {
        const std::string fence = after(text, "fence ");
        leases_[operation] = {page_.begin_bar(lane, at, look::lease, fence, std::string(text)),
                              host};
        return;
    }
    const bool lost = has(text, " lost the lease");
    const auto held = leases_.find(operation);
    if (held != leases_.end() && (lost || has(text, "] leaves") || has(text, "] with_lock:"))) {
        page_.end_bar(held->second.number, at, text);
        leases_.erase(held);
    }
    page_.mark(lane, at, lost ? look::loss : look::message, std::string(text));
}

void trace_page::of_server(const std::string& server, double at, std::string_view text)
{
    // `acquire name-0 for h1 as 5f:3 -> GRANTED fence 7`. Other events are those of the server
    // itself.
    const std::string owner = after(text, " as ");
    if (owner.empty())
        return page_.mark(page_.lane(server), at, look::message, std::string(text));
    std::istringstream words{std::string(text)};
    std::string verb, name;
    words >> verb >> name;
    const std::size_t lane = page_.lane(server + " " + name);
    const auto begin = [&](const std::string& whose, const std::string& fence) {
        if (const auto before = locks_.find(lane); before != locks_.end()) {
            if (before->second.of == whose)
                return;
            page_.end_bar(before->second.number, at, "until it had expired, or another had it");
        }
        locks_[lane] = {page_.begin_bar(lane, at, look::lock, fence, std::string(text)), whose};
    };
    if (has(text, "-> freed") || has(text, "-> given")) {
        if (const auto had = locks_.find(lane); had != locks_.end() && had->second.of == owner) {
            page_.end_bar(had->second.number, at, text);
            locks_.erase(had);
        }
        // A release may contain the next owner: `-> freed, 5f:4 GRANTED fence 8`.
        if (const std::string next = after(text, "-> freed, "); !next.empty())
            begin(next, after(text, "fence "));
    }
    else if (has(text, "-> GRANTED") || has(text, "-> TAKEN") || has(text, "-> accepted")) {
        begin(owner, after(text, "fence "));
    }
    page_.mark(lane, at, look::message, std::string(text));
}

} // namespace leasehold::test::sim
