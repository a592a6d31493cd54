#ifndef LEASEHOLD_REPORT_TIMELINE_HPP
#define LEASEHOLD_REPORT_TIMELINE_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::report {

/// The look of a bar or a mark.
enum class look : unsigned char
{
    lease,   ///< A bar: a client holds a lease.
    lock,    ///< A bar: a server has a lock of a client.
    waiting, ///< A bar: a client waits for a lock.
    fault,   ///< A bar or a mark: a fault.
    stopped, ///< A bar: a process did not run.
    message, ///< A mark.
    loss,    ///< A mark.
    wrong,   ///< A mark: a promise was broken.
};

/// A page with events on a time axis, in lanes.
class timeline
{
public:
    explicit timeline(std::string title) : title_(std::move(title)) {}

    void fact(std::string name, std::string value)
    {
        facts_.emplace_back(std::move(name), std::move(value));
    }

    /// Returns the lane with this name. Lanes are sorted by name.
    [[nodiscard]] std::size_t lane(std::string_view name);

    /// Adds an event at one time, in seconds.
    void mark(std::size_t lane, double at, look how, std::string text);

    /// Begins a bar, which ends with `end_bar` or at the end of the timeline. Returns its number.
    std::size_t begin_bar(std::size_t lane, double at, look how, std::string label,
                          std::string text);
    void end_bar(std::size_t number, double at, std::string_view text = {});
    void set_label(std::size_t number, std::string label);

    /// Sets the least time at which the timeline ends.
    void end_at(double at) { end_ = at; }

    /// The data for `write_page`. A bar without an end lasts until the end of the timeline, which
    /// is not before the latest event.
    [[nodiscard]] std::string to_json() const;

private:
    struct item
    {
        std::size_t lane;
        double at;
        std::optional<double> to;
        bool is_bar;
        look how;
        std::string label;
        std::string text;
    };

    std::string title_;
    std::vector<std::pair<std::string, std::string>> facts_;
    std::vector<std::string> lanes_;
    std::vector<item> items_;
    double end_ = 0;
};

} // namespace leasehold::report

#endif
