#include "chaos/table.hpp"

#include <functional>
#include <iomanip>
#include <set>

namespace leasehold::test::chaos {
namespace {

constexpr int label_width = 32;
constexpr int column_width = 16;

class table
{
public:
    table(std::ostream& to, const std::vector<std::pair<std::string, report>>& columns)
        : to_(to), columns_(columns)
    {}

    void head()
    {
        to_ << std::left << std::setw(label_width) << "" << std::right;
        for (const auto& [name, each] : columns_)
            to_ << std::setw(column_width) << name;
        to_ << '\n';
    }

    void row(const std::string& label, const std::function<std::uint64_t(const report&)>& value)
    {
        to_ << std::left << std::setw(label_width) << label << std::right;
        for (const auto& [name, each] : columns_)
            to_ << std::setw(column_width) << value(each);
        to_ << '\n';
    }

    /// The sum, and below it a row for each kind.
    void rows(const std::string& label, report::counts report::* counted)
    {
        row(label, [counted](const report& of) { return total(of.*counted); });
        std::set<std::string> kinds;
        for (const auto& [name, each] : columns_)
            for (const auto& [kind, count] : each.*counted)
                kinds.insert(kind);
        for (const std::string& kind : kinds)
            row("  " + kind, [&](const report& of) {
                const auto found = (of.*counted).find(kind);
                return found == (of.*counted).end() ? 0 : found->second;
            });
    }

private:
    std::ostream& to_;
    const std::vector<std::pair<std::string, report>>& columns_;
};

} // namespace

void print_table(std::ostream& to, const std::vector<std::pair<std::string, report>>& deployments)
{
    table out(to, deployments);
    out.head();
    out.row("operations", [](const report& of) { return of.operations; });
    out.row("grants", [](const report& of) { return of.grants; });
    out.row("  without the store", [](const report& of) { return of.handed_off; });
    out.row("not acquired", [](const report& of) { return of.not_acquired; });
    out.row("cancelled", [](const report& of) { return of.cancelled; });
    out.row("renewals", [](const report& of) { return of.renewals; });
    out.row("writes to the register", [](const report& of) { return of.writes; });
    out.row("  refused, older fence", [](const report& of) { return of.refused; });
    out.rows("losses", &report::losses);
    out.rows("faults", &report::faults);
    out.rows("double grants excused", &report::excused);
    out.row("slowest acquire, healed, ms", [](const report& of) {
        return static_cast<std::uint64_t>(of.slowest / std::chrono::milliseconds(1));
    });
    out.row("violations", [](const report& of) { return of.violations.size(); });
}

} // namespace leasehold::test::chaos
