#include "metrics/open_metrics_checker.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

namespace leasehold::test {
namespace {

bool is_name(std::string_view text)
{
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !text.empty() && is_letter(text[0]) &&
           std::all_of(text.begin(), text.end(),
                       [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

class reader
{
public:
    explicit reader(std::string_view text) : rest_(text) {}

    open_metrics_page read()
    {
        while (!ended_) {
            const auto end = rest_.find('\n');
            line_ = rest_.substr(0, end);
            require(end != rest_.npos, "the page does not end with a line end");
            rest_.remove_prefix(end + 1);
            if (line_ == "# EOF")
                ended_ = true;
            else if (line_.starts_with("# "))
                describe(line_.substr(2));
            else
                sample();
        }
        require(rest_.empty(), "something after # EOF");
        end_family();
        return std::move(page_);
    }

private:
    struct histogram
    {
        double last_bound = -std::numeric_limits<double>::infinity();
        double last_count = 0;
        std::optional<double> count, sum;
    };

    void require(bool holds, const char* what) const
    {
        if (!holds)
            throw std::runtime_error(std::string(what) + ": " + std::string(line_));
    }

    void describe(std::string_view text)
    {
        const auto kind = take_until(text, ' ');
        const auto name = take_until(text, ' ');
        require(is_name(name), "not a name");
        if (kind == "TYPE") {
            end_family();
            require(page_.types.emplace(name, text).second, "a family twice");
            require(text == "counter" || text == "gauge" || text == "histogram", "not a type");
            family_ = name;
            type_ = text;
            return;
        }
        require(name == family_, "not of the family that has begun");
        require(!sampled_, "after the samples");
        if (kind == "UNIT")
            require(family_.ends_with("_" + std::string(text)), "a unit that is not in the name");
        else
            require(kind == "HELP", "not a description");
        require(described_.insert(std::string(kind)).second, "a description twice");
        static_cast<void>(unescape(text));
    }

    std::string_view take_until(std::string_view& text, char end) const
    {
        const auto at = text.find(end);
        require(at != text.npos, "too short");
        const auto taken = text.substr(0, at);
        text.remove_prefix(at + 1);
        return taken;
    }

    std::string unescape(std::string_view text) const
    {
        std::string plain;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] != '\\') {
                plain += text[i];
                continue;
            }
            require(++i < text.size(), "half an escape");
            require(text[i] == '\\' || text[i] == '"' || text[i] == 'n', "not an escape");
            plain += text[i] == 'n' ? '\n' : text[i];
        }
        return plain;
    }

    std::vector<std::pair<std::string, std::string>> labels(std::string_view& text) const
    {
        std::vector<std::pair<std::string, std::string>> all;
        if (!text.starts_with('{'))
            return all;
        do {
            text.remove_prefix(1); // the brace, or a comma
            const auto name = take_until(text, '=');
            require(is_name(name), "not the name of a label");
            require(text.starts_with('"'), "a value without quotes");
            std::size_t end = 1;
            while (end < text.size() && text[end] != '"')
                end += text[end] == '\\' ? 2 : 1;
            require(end < text.size(), "a value without an end");
            for (const auto& other : all)
                require(other.first != name, "a label twice");
            all.emplace_back(name, unescape(text.substr(1, end - 1)));
            text.remove_prefix(end + 1);
        } while (text.starts_with(','));
        require(text.starts_with('}'), "labels without an end");
        text.remove_prefix(1);
        return all;
    }

    double number(std::string_view text) const
    {
        if (text == "+Inf")
            return std::numeric_limits<double>::infinity();
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        require(error == std::errc() && end == text.data() + text.size(), "not a number");
        return value;
    }

    void sample()
    {
        std::string_view text = line_;
        const auto name = text.substr(0, text.find_first_of("{ "));
        text.remove_prefix(name.size());
        require(is_name(name), "not a name");
        require(!family_.empty() && name.starts_with(family_), "not of the family that has begun");
        const auto suffix = name.substr(family_.size());
        auto all = labels(text);
        require(text.starts_with(' '), "no space before the number");
        const double value = number(text.substr(1));
        require(!std::isnan(value), "not a number");
        if (type_ != "gauge")
            require(value >= 0, "below zero");
        sampled_ = true;

        std::string key(name), others;
        std::vector<std::string> names;
        char before = '{';
        for (const auto& [label, text_of] : all) {
            key += before + label + "=\"" + text_of + '"';
            if (label != "le")
                others += before + label + "=\"" + text_of + '"';
            names.push_back(label);
            before = ',';
        }
        if (!all.empty())
            key += '}';
        require(page_.samples.emplace(key, value).second, "a sample twice");
        page_.series.emplace(name, std::move(names));

        if (type_ == "counter")
            return require(suffix == "_total", "not the suffix of a counter");
        if (type_ == "gauge")
            return require(suffix.empty(), "not a gauge");
        histogram& of = histograms_[others];
        if (suffix == "_bucket") {
            require(!all.empty() && all.back().first == "le", "a bucket without a bound");
            const double bound = number(all.back().second);
            require(bound > of.last_bound, "bounds that do not rise");
            require(value >= of.last_count, "buckets that fall");
            require(!of.count && !of.sum, "a bucket after the count");
            of.last_bound = bound;
            of.last_count = value;
        }
        else if (suffix == "_count") {
            require(value == of.last_count, "a count that is not that of the last bucket");
            of.count = value;
        }
        else {
            require(suffix == "_sum", "not the suffix of a histogram");
            of.sum = value;
        }
    }

    void end_family()
    {
        for (const auto& [of, one] : histograms_) {
            require(std::isinf(one.last_bound), "buckets that do not end at +Inf");
            require(one.count.has_value() && one.sum.has_value(), "neither count nor sum");
        }
        histograms_.clear();
        described_.clear();
        sampled_ = false;
    }

    std::string_view rest_;
    std::string_view line_;
    bool ended_ = false;
    std::string family_;
    std::string type_;
    bool sampled_ = false;
    std::set<std::string> described_;
    std::map<std::string, histogram> histograms_;
    open_metrics_page page_;
};

} // namespace

open_metrics_page read_open_metrics(std::string_view text)
{
    return reader(text).read();
}

} // namespace leasehold::test
