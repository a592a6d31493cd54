#include "report.hpp"

#include "../json.hpp"
#include "../percentile.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdio>

namespace leasehold::tool::doctor {
namespace {

std::string milliseconds_text(microseconds time)
{
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.2f", static_cast<double>(time.count()) / 1'000);
    return digits;
}

/// Appends words in wrapped lines.
void append_wrapped(std::string_view label, std::string_view words, std::size_t width,
                    std::string& to)
{
    constexpr std::size_t indent = 10;
    std::string line = "  " + std::string(label);
    line.resize(indent, ' ');
    while (!words.empty()) {
        std::size_t end = std::min(words.find(' '), words.size());
        if (line.size() > indent && line.size() + 1 + end > width) {
            to.append(line).append("\n");
            line.assign(indent, ' ');
        }
        if (line.size() > indent)
            line += ' ';
        line.append(words.substr(0, end));
        words.remove_prefix(std::min(end + 1, words.size()));
    }
    to.append(line).append("\n");
}

std::string about(const server_summary& server)
{
    std::string text = server.name + ": ";
    if (server.product.empty())
        return text + "no details (INFO is rejected)\n";
    text.append(server.product);
    if (!server.version.empty())
        text.append(" ").append(server.version);
    if (!server.role.empty())
        text.append(", ").append(server.role);
    for (const std::string& each : server.more)
        text.append(", ").append(each);
    text.append(", ping ").append(milliseconds_text(percentile(server.pings, 50))).append(" ms");
    if (!server.scripts.empty())
        text.append(", script ")
            .append(milliseconds_text(percentile(server.scripts, 50)))
            .append(" ms");
    return text + "\n";
}

std::string lower(std::string text)
{
    for (char& c : text)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

void add_latency(json_writer& to, std::string_view name, const std::vector<microseconds>& of)
{
    to.key(name);
    if (of.empty()) {
        to.null();
        return;
    }
    to.begin_object();
    to.key("median_us").number(percentile(of, 50).count());
    to.key("p99_us").number(percentile(of, 99).count());
    to.key("max_us").number(percentile(of, 100).count());
    to.end_object();
}

} // namespace

std::string counted(std::size_t count, std::string_view what)
{
    return std::to_string(count).append(" ").append(what).append(count == 1 ? "" : "s");
}

std::string_view to_text(level of) noexcept
{
    switch (of) {
    case level::note: return "note";
    case level::warning: return "warning";
    case level::problem: break;
    }
    return "problem";
}

void report::sort()
{
    std::stable_sort(found.begin(), found.end(), [](const finding& left, const finding& right) {
        return left.how_bad > right.how_bad;
    });
}

std::size_t report::count(level of) const noexcept
{
    return static_cast<std::size_t>(std::count_if(
        found.begin(), found.end(), [of](const finding& each) { return each.how_bad == of; }));
}

std::string as_text(const report& of, std::size_t width)
{
    std::string text;
    for (const server_summary& each : of.servers)
        text += about(each);
    for (const finding& each : of.found) {
        text.append("\n").append(to_text(each.how_bad)).append(": ").append(each.check);
        text.append(each.server.empty() ? "" : " of ").append(each.server).append("\n");
        append_wrapped("what", each.what, width, text);
        append_wrapped("why", each.why, width, text);
        append_wrapped("do", each.remedy, width, text);
    }
    text.append("\n").append(counted(of.count(level::problem), "problem"));
    text.append(", ").append(counted(of.count(level::warning), "warning"));
    return text.append(", ").append(counted(of.count(level::note), "note")).append("\n");
}

std::string as_json(const report& of)
{
    json_writer to;
    to.begin_object();
    to.key("servers").begin_array();
    for (const server_summary& each : of.servers) {
        to.begin_object();
        to.key("name").text(each.name);
        to.key("product").text(lower(each.product));
        to.key("version").text(each.version);
        to.key("role").text(each.role);
        add_latency(to, "ping", each.pings);
        add_latency(to, "script", each.scripts);
        to.end_object();
    }
    to.end_array();
    to.key("findings").begin_array();
    for (const finding& each : of.found) {
        to.begin_object();
        to.key("level").text(to_text(each.how_bad));
        to.key("check").text(each.check);
        to.key("server");
        each.server.empty() ? to.null() : to.text(each.server);
        to.key("what").text(each.what);
        to.key("why").text(each.why);
        to.key("do").text(each.remedy);
        to.end_object();
    }
    to.end_array();
    to.end_object();
    return to.str() + "\n";
}

} // namespace leasehold::tool::doctor
