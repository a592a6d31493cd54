#ifndef LEASEHOLD_EXTRAS_METRICS_HPP
#define LEASEHOLD_EXTRAS_METRICS_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>
#include <leasehold/observer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold {

/// What was measured, under one name, at one time.
struct metric_family
{
    /// How its values go.
    enum class kind : std::uint8_t
    {
        counter,   ///< Up.
        gauge,     ///< Up and down.
        histogram, ///< Counted by their size.
    };

    /// How many values were no larger than a bound.
    struct bucket
    {
        double upper = 0;        ///< The bound, in the unit of the family.
        std::uint64_t count = 0; ///< Those below it, too.
    };

    /// One member of the family.
    struct point
    {
        std::vector<std::pair<std::string, std::string>> labels{}; ///< In order: name, value.
        double value = 0;                                          ///< Of a counter or a gauge.
        std::vector<bucket> buckets{}; ///< Of a histogram, cumulative; the last one is infinite.
        double sum = 0;                ///< Of a histogram.
    };

    std::string name;            ///< Without `_total`, with the unit.
    kind type = kind::counter;   ///< Which members of a point are set.
    std::string unit{};          ///< `seconds`, or empty.
    std::string help{};          ///< A sentence for people.
    std::vector<point> points{}; ///< No two have the same labels.
};

/// Appends the families in the OpenMetrics text format 1.0, without its last line `# EOF`: for
/// pages that have other metrics too.
LEASEHOLD_EXPORT void append_open_metrics(std::string& page,
                                          std::span<const metric_family> families);

/// What comes before the first `:` or `/` of a lock's name; all of it where there is neither. So
/// `order:4711` and `order:4712` are `order`.
[[nodiscard]] LEASEHOLD_EXPORT std::string lock_family(std::string_view name);

/// How `metrics` counts.
struct metrics_options
{
    /// The value of the label `lock` for the name of a lock. A function of the name alone, called
    /// on the strands of the clients, and must not block. An exception counts as `other`.
    std::function<std::string(std::string_view name)> label_of = &lock_family;
    /// So many values of `lock` are told apart; what comes after them is `other`. 1 to 10,000.
    std::size_t most_locks = 100;
    /// For each of them, so many values of `holder`; what comes after them is `other`. 1 to 10,000.
    std::size_t most_holders = 20;
    /// The upper bounds of the histograms: rising, above zero, at most 100.
    std::vector<std::chrono::nanoseconds> bounds = {
        std::chrono::microseconds(100),  std::chrono::microseconds(250),
        std::chrono::microseconds(500),  std::chrono::milliseconds(1),
        std::chrono::microseconds(2500), std::chrono::milliseconds(5),
        std::chrono::milliseconds(10),   std::chrono::milliseconds(25),
        std::chrono::milliseconds(50),   std::chrono::milliseconds(100),
        std::chrono::milliseconds(250),  std::chrono::milliseconds(500),
        std::chrono::seconds(1),         std::chrono::milliseconds(2500),
        std::chrono::seconds(5),         std::chrono::seconds(10),
        std::chrono::seconds(30),        std::chrono::seconds(60),
        std::chrono::seconds(300)};
};

/// Counts what clients tell, for a monitoring system that reads the OpenMetrics text format.
///
/// @code
/// const auto counted = std::make_shared<leasehold::metrics>();
/// leasehold::client locks(context, "redis://127.0.0.1", counted);
/// ...
/// response.set(http::field::content_type, leasehold::metrics::content_type);
/// response.body() = counted->text();
/// @endcode
///
/// @par Series
/// Every name of a lock becomes the value of the label `lock`, by one function, and there is a
/// hard limit of values: names that never end do not fill the memory, here or in the monitoring
/// system.
/// @par Threads
/// Everything may be called from any thread. Several clients may share one.
/// @par Memory
/// A value of a label is kept for as long as this lives. Where memory fails, events count as
/// `other`.
class LEASEHOLD_EXPORT metrics final : public observer
{
public:
    /// The `Content-Type` of `text`.
    static constexpr std::string_view content_type =
        "application/openmetrics-text; version=1.0.0; charset=utf-8";

    /// @throws boost::system::system_error `errc::invalid_option` for an option out of its range.
    explicit metrics(metrics_options options = {});
    ~metrics() override;

    /// What was counted until now. Each number is exact; together they need not be of one moment.
    [[nodiscard]] std::vector<metric_family> collect() const;

    /// The same as a page in the OpenMetrics text format 1.0, `# EOF` included.
    [[nodiscard]] std::string text() const;

    /// What clients tell.
    /// @{
    void began(std::string_view name) noexcept override;
    void acquired(std::string_view name, std::uint64_t fence, duration waited,
                  bool handed_over) noexcept override;
    void not_acquired(std::string_view name, error_code why, duration waited,
                      const diagnostics& details) noexcept override;
    void contended(std::string_view name, std::string_view holder,
                   duration waited) noexcept override;
    void suspect_expiry(std::string_view name,
                        std::chrono::milliseconds remaining) noexcept override;
    void renewed(std::string_view name, std::uint64_t fence, duration took,
                 duration left) noexcept override;
    void renewal_late(std::string_view name, std::uint64_t fence, error_code why,
                      duration left) noexcept override;
    void lost(std::string_view name, std::uint64_t fence, duration held, error_code reason,
              const diagnostics& details) noexcept override;
    void released(std::string_view name, std::uint64_t fence, duration held) noexcept override;
    void passed_on(std::string_view name) noexcept override;
    void answered(store_request request, duration took, error_code why) noexcept override;
    void connected() noexcept override;
    void disconnected(error_code why) noexcept override;
    /// @}

private:
    struct state;
    std::unique_ptr<state> state_;
};

} // namespace leasehold

#endif
