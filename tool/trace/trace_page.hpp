#ifndef LEASEHOLD_TOOL_TRACE_TRACE_PAGE_HPP
#define LEASEHOLD_TOOL_TRACE_TRACE_PAGE_HPP

#include "trace_event.hpp"

#include "report/timeline.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::tool {

/// The events of a trace as a page: a lane for each client, with bars while it holds a lock or
/// waits for it.
class trace_page
{
public:
    /// @param servers The servers that keep the locks.
    trace_page(const std::vector<std::string>& names, const std::string& servers,
               trace_event::duration every, trace_event::wall_time begin);

    void add(const trace_event& event);

    /// Writes the page.
    /// @throws std::runtime_error The file cannot be written.
    void write(const std::string& file, trace_event::wall_time end);

private:
    struct bar
    {
        std::size_t number;
        std::string owner;
    };

    [[nodiscard]] double seconds(trace_event::wall_time at) const;
    [[nodiscard]] std::size_t lane(const std::string& name, const std::string& of);
    std::size_t lane(const trace_event& event, const std::string& client, const client_info& info);
    void hold(const trace_event& event);
    void end_hold(const trace_event& event, const lock_state& ended);
    void queue(const trace_event& event);
    void end_wait(const std::string& name, const std::string& owner, const trace_event& event);

    const bool one_lock_;
    const trace_event::wall_time begin_;
    report::timeline page_;
    std::map<std::string, bar> holds_;                                 ///< By the name of the lock.
    std::map<std::pair<std::string, std::string>, std::size_t> waits_; ///< By name and owner.
    std::map<std::string, std::size_t> outages_;                       ///< By name.
    std::map<std::string, std::string> clients_;                       ///< Their processes.
};

} // namespace leasehold::tool

#endif
