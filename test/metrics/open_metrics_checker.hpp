#ifndef LEASEHOLD_TEST_METRICS_OPEN_METRICS_CHECKER_HPP
#define LEASEHOLD_TEST_METRICS_OPEN_METRICS_CHECKER_HPP

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::test {

/// A page in the OpenMetrics text format, read strictly.
struct open_metrics_page
{
    /// Samples by name and labels, as `name{a="x",b="y"}` in the order of the page, unescaped.
    std::map<std::string, double> samples;
    /// The names of samples, each with the names of its labels.
    std::map<std::string, std::vector<std::string>> series;
    /// The type of each family.
    std::map<std::string, std::string> types;
};

/// Reads a page. Throws `std::runtime_error`, with the line, for every violation of the format: an
/// order of lines or of families, a name, an escape, a number, a sample twice, a suffix that is not
/// of the type, a unit that is not in the name, buckets that fall or do not end at +Inf, a count
/// that is not that of the last bucket, and an end without `# EOF`.
[[nodiscard]] open_metrics_page read_open_metrics(std::string_view text);

} // namespace leasehold::test

#endif
