#ifndef LEASEHOLD_BENCHMARK_REPORT_HPP
#define LEASEHOLD_BENCHMARK_REPORT_HPP

#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::benchmark {

/// The goal of a figure.
struct aim
{
    enum class side : unsigned char
    {
        at_least,
        at_most,
    };
    side which;
    double bound;
};

inline aim at_least(double bound)
{
    return {aim::side::at_least, bound};
}

inline aim at_most(double bound)
{
    return {aim::side::at_most, bound};
}

/// One measured number, in one case of a measurement.
struct figure
{
    std::string situation;
    std::string what;
    double value = 0;
    std::string unit; ///< Empty: a ratio.
    std::optional<aim> wanted;
};

/// One measurement: a heading and its figures.
struct section
{
    std::string name;
    std::string heading;
    std::vector<figure> figures;

    void add(std::string situation, std::string what, double value, std::string unit,
             std::optional<aim> wanted = {});
};

using facts = std::vector<std::pair<std::string, std::string>>;

/// An aligned table in plain text, with the goal next to each figure that has one.
void print(std::ostream&, const section&);
void print(std::ostream&, const facts&);

/// The same figures as JSON.
void write_json(std::ostream&, const facts&, const std::vector<section>&);

} // namespace leasehold::benchmark

#endif
