#ifndef LEASEHOLD_REPORT_TIMELINE_HPP
#define LEASEHOLD_REPORT_TIMELINE_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::report {

/// How something on a timeline looks.
enum class look : unsigned char
{
    lease,   ///< A bar: somebody holds a lease.
    lock,    ///< A bar: a server has a lock for somebody.
    fault,   ///< Bar or mark: something was broken.
    stopped, ///< A bar: a process did not run.
    message, ///< A mark.
    loss,    ///< A mark.
    wrong,   ///< A mark: a promise was broken.
};

/// What happened when, in lanes, as a page.
class timeline
{
public:
    explicit timeline(std::string title) : title_(std::move(title)) {}

    void fact(std::string name, std::string value)
    {
        facts_.emplace_back(std::move(name), std::move(value));
    }

    /// The lane with this name. They are shown in the order of their names.
    [[nodiscard]] std::size_t lane(std::string_view name);

    /// Something at one time, in seconds.
    void mark(std::size_t lane, double at, look how, std::string text);

    /// Something that goes on, from now on until `end_bar`, or the end of the timeline. Returns its
    /// number.
    std::size_t begin_bar(std::size_t lane, double at, look how, std::string label,
                          std::string text);
    void end_bar(std::size_t number, double at, std::string_view text = {});

    /// For `write_page`. Bars that have no end go on to the last time there is.
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
};

} // namespace leasehold::report

#endif
