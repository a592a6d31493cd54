#ifndef LEASEHOLD_TEST_MODEL_RUNS_HPP
#define LEASEHOLD_TEST_MODEL_RUNS_HPP

#include "model/setting.hpp"

#include <span>
#include <string>
#include <vector>

namespace leasehold::test::model {

/// The duration of a search, which decides when it runs.
enum class effort : std::uint8_t
{
    quick,  ///< With the other tests.
    normal, ///< By `test/run --model`.
    deep,   ///< By `test/run --model --deep`.
};

/// A search that must be complete and find no error.
struct search_run
{
    effort when;
    setting g;
};
std::span<const search_run> search_runs();

/// A search that must find an error.
struct error_run
{
    const char* name;
    const char* what;  ///< The part that is wrong.
    setting g;         ///< The smallest setting in which the error is found.
    const char* found; ///< The beginning of the name of the violated property.
};
std::span<const error_run> error_runs();

/// All settings that are smaller in one value.
std::vector<setting> smaller(const setting& g);

/// As an option of the command line, and as in the tables.
std::string to_text(const setting& g);
/// Sets an option. False: there is no such option.
bool set(setting& g, const std::string& option);

} // namespace leasehold::test::model

#endif
