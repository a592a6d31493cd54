#ifndef LEASEHOLD_TEST_MODEL_RUNS_HPP
#define LEASEHOLD_TEST_MODEL_RUNS_HPP

#include "model/setting.hpp"

#include <span>
#include <string>
#include <vector>

namespace leasehold::test::model {

/// The duration of a search, and so when it is made.
enum class effort : std::uint8_t
{
    quick,  ///< With the tests.
    normal, ///< By `test/run --model`.
    deep,   ///< By `test/run --model --deep`.
};

/// A search that has to be complete and to find nothing.
struct search_run
{
    effort when;
    setting g;
};
std::span<const search_run> search_runs();

/// A search that has to find an error.
struct error_run
{
    const char* name;
    const char* what;  ///< The broken part.
    setting g;         ///< The smallest in which it is found.
    const char* found; ///< The beginning of the property that shows it.
};
std::span<const error_run> error_runs();

/// All settings that are smaller by one thing.
std::vector<setting> smaller(const setting& g);

/// As an option of the command line, and in the tables.
std::string to_text(const setting& g);
/// Sets one of them; false if there is no such option.
bool set(setting& g, const std::string& option);

} // namespace leasehold::test::model

#endif
