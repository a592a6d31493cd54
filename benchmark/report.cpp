#include "report.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/src.hpp> // header-only: compiled here

#include <algorithm>
#include <cmath>
#include <ostream>
#include <sstream>

namespace leasehold::benchmark {
namespace {

// Three significant digits, two from 0.1 to 1, thousands separated: 1,234,567, 12.3, 0.98 and
// 0.0123.
std::string number(double value)
{
    const double size = std::abs(value);
    int decimals = 0;
    if (size >= 0.1 && size < 1)
        decimals = 2;
    else if (size > 0 && size < 99.95)
        decimals = std::clamp(2 - static_cast<int>(std::floor(std::log10(size))), 0, 6);
    std::ostringstream out;
    out.setf(std::ios::fixed);
    out.precision(decimals);
    out << value;
    std::string text = out.str();
    const std::size_t point = std::min(text.find('.'), text.size());
    const std::size_t first = value < 0 ? 1 : 0;
    for (std::size_t at = point; at > first + 3;) {
        at -= 3;
        text.insert(at, 1, ',');
    }
    return text;
}

std::string aim_text(const figure& each)
{
    if (!each.wanted)
        return {};
    const bool least = each.wanted->which == aim::side::at_least;
    return (least ? "aim ≥ " : "aim ≤ ") + number(each.wanted->bound);
}

// The width in columns of a terminal, not in bytes.
std::size_t width(const std::string& text)
{
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

std::string pad(const std::string& text, std::size_t to)
{
    return text + std::string(to - std::min(to, width(text)), ' ');
}

std::string pad_left(const std::string& text, std::size_t to)
{
    return std::string(to - std::min(to, width(text)), ' ') + text;
}

boost::json::object to_json(const figure& each)
{
    boost::json::object out;
    out["case"] = each.situation;
    out["what"] = each.what;
    out["value"] = each.value;
    out["unit"] = each.unit.empty() ? "ratio" : each.unit;
    if (each.wanted)
        out["aim"] = {{each.wanted->which == aim::side::at_least ? "at_least" : "at_most",
                       each.wanted->bound}};
    return out;
}

} // namespace

void section::add(std::string situation, std::string what, double value, std::string unit,
                  std::optional<aim> wanted)
{
    figures.push_back({std::move(situation), std::move(what), value, std::move(unit), wanted});
}

void print(std::ostream& out, const section& all)
{
    std::size_t situation = 0, what = 0, aims = 0, value = 0;
    for (const figure& each : all.figures) {
        situation = std::max(situation, width(each.situation));
        what = std::max(what, width(each.what));
        aims = std::max(aims, width(aim_text(each)));
        value = std::max(value, width(number(each.value)));
    }
    out << '\n' << all.name << ": " << all.heading << '\n';
    const std::string* before = nullptr;
    for (const figure& each : all.figures) {
        const bool repeated = before != nullptr && *before == each.situation;
        std::string line = "  " + pad(repeated ? "" : each.situation, situation) + "  " +
                           pad(each.what, what) + "  " + pad(aim_text(each), aims) + "  " +
                           pad_left(number(each.value), value);
        if (!each.unit.empty())
            line += "  " + each.unit;
        out << line << '\n';
        before = &each.situation;
    }
}

void print(std::ostream& out, const facts& all)
{
    for (const auto& [name, value] : all)
        out << pad(name, 10) << value << '\n';
}

void write_json(std::ostream& out, const facts& machine, const std::vector<section>& sections)
{
    boost::json::object about;
    for (const auto& [name, value] : machine)
        about[name] = value;
    boost::json::array list;
    for (const section& each : sections) {
        boost::json::array figures;
        for (const figure& one : each.figures)
            figures.emplace_back(to_json(one));
        list.push_back(
            {{"name", each.name}, {"heading", each.heading}, {"figures", std::move(figures)}});
    }
    out << boost::json::serialize(boost::json::object{{"machine", std::move(about)},
                                                      {"measurements", std::move(list)}})
        << '\n';
}

} // namespace leasehold::benchmark
