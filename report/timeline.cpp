#include "timeline.hpp"

#include "page.hpp"

#include <algorithm>
#include <cstdio>

namespace leasehold::report {
namespace {

std::string_view name_of(look how)
{
    switch (how) {
    case look::lease: return "lease";
    case look::lock: return "lock";
    case look::waiting: return "waiting";
    case look::fault: return "fault";
    case look::stopped: return "stopped";
    case look::message: return "message";
    case look::loss: return "loss";
    case look::wrong: break;
    }
    return "wrong";
}

void append_number(std::string& to, double value)
{
    char text[64];
    std::snprintf(text, sizeof text, "%.9f", value);
    to += text;
}

void append_member(std::string& to, std::string_view name, std::string_view text)
{
    append_json(to += ',', name);
    append_json(to += ':', text);
}

} // namespace

std::size_t timeline::lane(std::string_view name)
{
    const auto found = std::find(lanes_.begin(), lanes_.end(), name);
    if (found != lanes_.end())
        return static_cast<std::size_t>(found - lanes_.begin());
    lanes_.emplace_back(name);
    return lanes_.size() - 1;
}

void timeline::mark(std::size_t lane, double at, look how, std::string text)
{
    items_.push_back({lane, at, {}, false, how, {}, std::move(text)});
}

std::size_t timeline::begin_bar(std::size_t lane, double at, look how, std::string label,
                                std::string text)
{
    items_.push_back({lane, at, {}, true, how, std::move(label), std::move(text)});
    return items_.size() - 1;
}

void timeline::end_bar(std::size_t number, double at, std::string_view text)
{
    items_[number].to = at;
    if (!text.empty())
        items_[number].text.append("\n").append(text);
}

void timeline::set_label(std::size_t number, std::string label)
{
    items_[number].label = std::move(label);
}

std::string timeline::to_json() const
{
    double last = end_;
    for (const item& each : items_)
        last = std::max(last, each.to.value_or(each.at));
    std::vector<std::string> lanes = lanes_;
    std::sort(lanes.begin(), lanes.end());
    const auto place = [&](std::size_t lane) {
        return std::lower_bound(lanes.begin(), lanes.end(), lanes_[lane]) - lanes.begin();
    };
    std::string out = "{\"title\":";
    append_json(out, title_);
    out += ",\"facts\":[";
    for (const auto& [name, value] : facts_) {
        append_json(out += out.back() == '[' ? "[" : ",[", name);
        append_json(out += ',', value);
        out += ']';
    }
    out += "],\"timeline\":{\"lanes\":[";
    for (const std::string& each : lanes)
        append_json(out.back() == '[' ? out : out += ',', each);
    out += "],\"items\":[";
    for (const item& each : items_) {
        out += out.back() == '[' ? "{\"lane\":" : ",{\"lane\":";
        out += std::to_string(place(each.lane));
        append_number(out += ",\"at\":", each.at);
        if (each.is_bar)
            append_number(out += ",\"to\":", each.to.value_or(last));
        append_member(out, "kind", name_of(each.how));
        append_member(out, "label", each.label);
        append_member(out, "text", each.text);
        out += '}';
    }
    append_number(out += "],\"end\":", last);
    return out += "}}";
}

} // namespace leasehold::report
