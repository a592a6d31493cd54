#include <leasehold/extras/metrics.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace leasehold {
namespace {

using kind = metric_family::kind;

std::string_view text(kind type) noexcept
{
    switch (type) {
    case kind::counter: return "counter";
    case kind::gauge: return "gauge";
    case kind::histogram: break;
    }
    return "histogram";
}

template <class Number, class... Format>
void put_number(std::string& page, Number value, Format... format)
{
    char digits[400]; // a double has at most 309 digits before the point
    const auto end = std::to_chars(digits, digits + sizeof digits, value, format...).ptr;
    page.append(digits, end);
}

/// Appends a number as OpenMetrics requires: 1.0, 0.25, 1e+06, +Inf.
void put(std::string& page, double value)
{
    if (std::isnan(value))
        page += "NaN";
    else if (std::isinf(value))
        page += value > 0 ? "+Inf" : "-Inf";
    else if (value != std::floor(value))
        put_number(page, value, std::chars_format::general);
    else if (std::abs(value) < 1e6)
        put_number(page, value, std::chars_format::fixed), page += ".0";
    else
        put_number(page, value, std::chars_format::scientific);
}

void put_escaped(std::string& page, std::string_view text)
{
    for (const char c : text) {
        switch (c) {
        case '\\': page += "\\\\"; break;
        case '"': page += "\\\""; break;
        case '\n': page += "\\n"; break;
        default: page += c;
        }
    }
}

class sample
{
public:
    sample(std::string& page, std::string_view family, std::string_view suffix) : page_(page)
    {
        page_ += family;
        page_ += suffix;
    }

    sample& with(std::string_view name, std::string_view value)
    {
        page_ += std::exchange(first_, false) ? '{' : ',';
        page_ += name;
        page_ += "=\"";
        put_escaped(page_, value);
        page_ += '"';
        return *this;
    }

    sample& with(const metric_family::point& one)
    {
        for (const auto& [name, value] : one.labels)
            with(name, value);
        return *this;
    }

    template <class Number>
    void is(Number value)
    {
        if (!first_)
            page_ += '}';
        page_ += ' ';
        if constexpr (std::is_floating_point_v<Number>)
            put(page_, value);
        else
            put_number(page_, value);
        page_ += '\n';
    }

private:
    std::string& page_;
    bool first_ = true;
};

void put_histogram(std::string& page, const metric_family& family, const metric_family::point& one)
{
    std::uint64_t total = 0;
    for (const metric_family::bucket& each : one.buckets) {
        std::string bound;
        put(bound, each.upper);
        sample(page, family.name, "_bucket").with(one).with("le", bound).is(each.count);
        total = each.count;
    }
    sample(page, family.name, "_count").with(one).is(total);
    sample(page, family.name, "_sum").with(one).is(one.sum);
}

void put_line(std::string& page, std::string_view what, const std::string& name,
              std::string_view text)
{
    page += "# ";
    page += what;
    page += ' ';
    page += name;
    page += ' ';
    put_escaped(page, text);
    page += '\n';
}

} // namespace

void append_open_metrics(std::string& page, std::span<const metric_family> families)
{
    for (const metric_family& family : families) {
        put_line(page, "TYPE", family.name, text(family.type));
        if (!family.unit.empty())
            put_line(page, "UNIT", family.name, family.unit);
        put_line(page, "HELP", family.name, family.help);
        for (const metric_family::point& one : family.points) {
            if (family.type == kind::histogram)
                put_histogram(page, family, one);
            else
                sample(page, family.name, family.type == kind::counter ? "_total" : "")
                    .with(one)
                    .is(one.value);
        }
    }
}

} // namespace leasehold
