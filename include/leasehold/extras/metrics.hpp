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

/// The values of one metric name at one time.
struct metric_family
{
    /// The type of a metric.
    enum class kind : std::uint8_t
    {
        counter,   ///< Only rises.
        gauge,     ///< Rises and falls.
        histogram, ///< Values counted by size.
    };

    /// The number of values up to a bound.
    struct bucket
    {
        double upper = 0;        ///< The bound, in the unit of the family.
        std::uint64_t count = 0; ///< Includes the lower buckets.
    };

    /// One series of the family.
    struct point
    {
        std::vector<std::pair<std::string, std::string>> labels{}; ///< Name and value, in order.
        double value = 0;                                          ///< For a counter or a gauge.
        std::vector<bucket> buckets{}; ///< For a histogram: cumulative; the last bound is infinite.
        double sum = 0;                ///< For a histogram.
    };

    std::string name;            ///< Without `_total`, with the unit.
    kind type = kind::counter;   ///< Decides which members of a point are set.
    std::string unit{};          ///< `seconds`, or empty.
    std::string help{};          ///< A description.
    std::vector<point> points{}; ///< Each has different labels.
};

/// Appends the families in the OpenMetrics text format 1.0, without the last line `# EOF`, for
/// pages with other metrics.
LEASEHOLD_EXPORT void append_open_metrics(std::string& page,
                                          std::span<const metric_family> families);

/// Returns the part of a lock's name before the first `:` or `/`, or all of it if there is neither.
/// `order:4711` and `order:4712` give `order`.
[[nodiscard]] LEASEHOLD_EXPORT std::string lock_family(std::string_view name);

/// The options of `metrics`.
struct metrics_options
{
    /// Maps the name of a lock to the value of the label `lock`. It must depend only on the name
    /// and must not block. Called on the strands of the clients. An exception gives `other`.
    std::function<std::string(std::string_view name)> label_of = &lock_family;
    /// Maximum number of values of `lock`; further ones are `other`. Range: 1 to 10,000.
    std::size_t most_locks = 100;
    /// Maximum number of values of `holder` for each of them; further ones are `other`. 1 to
    /// 10,000.
    std::size_t most_holders = 20;
    /// The upper bounds of the histograms: increasing, above zero, at most 100.
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

/// Counts the events of clients, for monitoring systems that read the OpenMetrics text format.
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
/// A function maps each lock name to the value of the label `lock`. The number of values is
/// limited, so an unlimited number of names does not fill the memory, here or in the monitoring
/// system.
/// @par Threads
/// All functions may be called from any thread. Several clients may share one object.
/// @par Memory
/// Label values are kept as long as the object. If an allocation fails, events count as `other`.
class LEASEHOLD_EXPORT metrics final : public observer
{
public:
    /// The `Content-Type` of `text`.
    static constexpr std::string_view content_type =
        "application/openmetrics-text; version=1.0.0; charset=utf-8";

    /// @throws boost::system::system_error `errc::invalid_option` for an option out of its range.
    explicit metrics(metrics_options options = {});
    ~metrics() override;

    /// Returns all counts. Each number is exact; numbers may be from different moments.
    [[nodiscard]] std::vector<metric_family> collect() const;

    /// Returns the counts as a page in the OpenMetrics text format 1.0, with `# EOF`.
    [[nodiscard]] std::string text() const;

    /// @name Events
    /// @{

    /// Counts an event of a client: see `observer`.
    void began(std::string_view name) noexcept override;
    void acquired(std::string_view name, std::uint64_t fence, duration waited,
                  bool handed_off) noexcept override;
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
    void granted_next(std::string_view name) noexcept override;
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
