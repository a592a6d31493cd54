#ifndef LEASEHOLD_TEST_SIM_TRACE_PAGE_HPP
#define LEASEHOLD_TEST_SIM_TRACE_PAGE_HPP

#include "report/timeline.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::test::sim {

/// Makes a page from the lines of a trace, with a lane for each process, for the run, and for each
/// lock in each server.
class trace_page
{
public:
    explicit trace_page(std::string title) : page_(std::move(title)) {}

    void fact(std::string name, std::string value)
    {
        page_.fact(std::move(name), std::move(value));
    }

    /// One line, `<seconds> <who> <what>`, in the order of the times.
    void add(std::string_view line);

    [[nodiscard]] std::string to_json() const { return page_.to_json(); }

private:
    struct bar
    {
        std::size_t number = 0;
        std::string of; ///< Its owner.
    };

    void of_run(double at, std::string_view text);
    void of_process(const std::string& host, double at, std::string_view text);
    void of_server(const std::string& server, double at, std::string_view text);

    report::timeline page_;
    std::map<std::string, bar> leases_; ///< By process and operation.
    std::map<std::size_t, bar> locks_;  ///< By lane.
};

} // namespace leasehold::test::sim

#endif
