#include "model/runs.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <string_view>

namespace leasehold::test::model {
namespace {

struct count_option
{
    const char* name;
    int setting::* value;
};
constexpr std::array counts{
    count_option{"clients", &setting::clients},   count_option{"attempts", &setting::attempts},
    count_option{"faults", &setting::faults},     count_option{"cancels", &setting::cancels},
    count_option{"external", &setting::external}, count_option{"elsewhere", &setting::elsewhere},
};

struct switch_option
{
    const char* name;
    bool setting::* value;
    bool usual;
};
constexpr std::array switches{
    switch_option{"fast_path", &setting::fast_path, true},
    switch_option{"slow_path", &setting::slow_path, true},
    switch_option{"kill", &setting::kill, true},
    switch_option{"tries", &setting::tries, false},
    switch_option{"joins", &setting::joins, false},
    switch_option{"alone", &setting::alone, false},
    switch_option{"renewals", &setting::renewals, false},
    switch_option{"entries", &setting::entries, false},
    switch_option{"block", &setting::block, false},
    switch_option{"loss", &setting::loss, false},
    switch_option{"calm", &setting::calm, false},
    switch_option{"turns", &setting::turns, false},
    switch_option{"told", &setting::told, false},
    switch_option{"every_poll", &setting::every_poll, false},
    switch_option{"excuse_barging", &setting::excuse_barging, true},
    switch_option{"excuse_flushed", &setting::excuse_flushed, true},
};

/// A setting, written as on the command line.
struct as_text : setting
{
    explicit as_text(const char* text)
    {
        std::string_view rest = text;
        while (!rest.empty()) {
            const auto end = std::min(rest.find(' '), rest.size());
            if (!set(*this, std::string(rest.substr(0, end))))
                throw std::logic_error(text);
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
};

const std::array runs{
    search_run{effort::quick, as_text("clients=3 external=1 cancels=1")},
    search_run{effort::quick, as_text("attempts=2 external=1 cancels=1")},
    search_run{effort::quick, as_text("attempts=2 faults=1 joins")},
    search_run{effort::quick, as_text("clients=3 faults=1")},
    search_run{effort::quick, as_text("faults=2 cancels=1")},
    search_run{effort::quick, as_text("faults=1 cancels=1 tries every_poll")},
    search_run{effort::quick, as_text("faults=2 renewals")},
    search_run{effort::quick, as_text("faults=1 entries")},
    search_run{effort::quick, as_text("attempts=2 faults=1 alone")},
    search_run{effort::quick, as_text("attempts=2 faults=1 joins block")},
    search_run{effort::quick, as_text("attempts=2 faults=1 joins no_kill no_fast_path")},
    search_run{effort::quick, as_text("faults=2 no_kill")},
    search_run{effort::quick, as_text("faults=1 loss")},
    search_run{effort::quick, as_text("faults=1 loss external=1")},
    search_run{effort::quick, as_text("attempts=2 faults=2 joins told")},
    search_run{effort::quick, as_text("clients=3 turns external=1")},
    search_run{effort::quick, as_text("faults=1 cancels=1 turns")},

    search_run{effort::normal, as_text("clients=3 attempts=2 joins cancels=1")},
    search_run{effort::normal, as_text("clients=3 faults=2")},
    search_run{effort::normal, as_text("clients=3 faults=1 cancels=1 tries")},
    search_run{effort::normal, as_text("clients=3 faults=1 external=1")},
    search_run{effort::normal, as_text("attempts=2 faults=2 joins")},
    search_run{effort::normal, as_text("attempts=2 faults=1 external=2")},
    search_run{effort::normal, as_text("faults=1 entries renewals")},
    search_run{effort::normal, as_text("attempts=2 faults=1 joins no_kill")},
    search_run{effort::normal, as_text("attempts=2 faults=1 joins every_poll")},
    search_run{effort::normal, as_text("faults=2 loss")},
    search_run{effort::normal, as_text("faults=1 loss block elsewhere=1")},
    search_run{effort::normal, as_text("attempts=2 faults=1 loss calm joins")},
    search_run{effort::normal, as_text("clients=3 faults=2 told cancels=1")},
    search_run{effort::normal, as_text("clients=3 faults=1 turns")},
    search_run{effort::normal, as_text("clients=3 attempts=2 faults=1 joins told")},
    search_run{effort::normal, as_text("attempts=2 faults=1 joins turns")},

    search_run{effort::deep, as_text("clients=3 attempts=2 faults=1")},
    search_run{effort::deep, as_text("clients=3 attempts=2 faults=1 joins")},
    search_run{effort::deep, as_text("clients=3 faults=2 cancels=1")},
    search_run{effort::deep, as_text("attempts=2 faults=2 cancels=1 joins")},
    search_run{effort::deep, as_text("attempts=3 faults=1 joins")},
    search_run{effort::deep, as_text("attempts=2 faults=1 renewals")},
    search_run{effort::deep, as_text("attempts=2 faults=1 joins renewals")},
    search_run{effort::deep, as_text("attempts=2 entries renewals")},
    search_run{effort::deep, as_text("attempts=2 faults=1 entries")},
    search_run{effort::deep, as_text("attempts=2 faults=2 joins no_kill")},
    search_run{effort::deep, as_text("attempts=2 faults=2 joins no_kill no_fast_path")},
    search_run{effort::deep, as_text("attempts=2 faults=1 loss")},
    search_run{effort::deep, as_text("attempts=2 faults=1 loss block")},
    search_run{effort::deep, as_text("attempts=2 faults=2 loss calm")},
    search_run{effort::deep, as_text("attempts=2 faults=1 loss calm external=1")},
    search_run{effort::deep, as_text("clients=3 faults=1 loss")},
    search_run{effort::deep, as_text("attempts=2 faults=1 joins turns external=1")},
    search_run{effort::deep, as_text("clients=3 faults=1 turns external=1 cancels=1")},
};

} // namespace

std::span<const search_run> search_runs()
{
    return runs;
}

std::vector<setting> smaller(const setting& g)
{
    std::vector<setting> out;
    for (const auto& each : counts) {
        const bool needed = each.value == &setting::clients || each.value == &setting::attempts;
        if (g.*each.value > (needed ? 1 : 0)) {
            out.push_back(g);
            --(out.back().*each.value);
        }
    }
    for (const auto& each : switches)
        if (g.*each.value != each.usual) {
            out.push_back(g);
            out.back().*each.value = each.usual;
        }
    return out;
}

std::string to_text(const setting& g)
{
    std::string out;
    for (const auto& each : counts)
        if (const int value = g.*each.value; value > 0)
            out += (out.empty() ? "" : " ") + std::string(each.name) + "=" + std::to_string(value);
    for (const auto& each : switches)
        if (g.*each.value != each.usual)
            out += std::string(each.usual ? " no_" : " ") + each.name;
    return out;
}

bool set(setting& g, const std::string& option)
{
    const std::string_view text = option;
    for (const auto& each : counts) {
        const std::string_view name = each.name;
        if (!text.starts_with(name) || text.size() < name.size() + 2 || text[name.size()] != '=')
            continue;
        const char* const end = text.data() + text.size();
        const auto [rest, failed] = std::from_chars(text.data() + name.size() + 1, end,
                                                    g.*each.value);
        return failed == std::errc() && rest == end && g.*each.value >= 0 && g.*each.value <= 9;
    }
    for (const auto& each : switches)
        for (const bool value : {true, false})
            if (text == (value ? "" : "no_") + std::string(each.name)) {
                g.*each.value = value;
                return true;
            }
    return false;
}

} // namespace leasehold::test::model
