#ifndef LEASEHOLD_EXTRAS_PROMETHEUS_CPP_HPP
#define LEASEHOLD_EXTRAS_PROMETHEUS_CPP_HPP

// For programs that use prometheus-cpp. They find and link it themselves. No other header includes
// this one.
#include <leasehold/extras/metrics.hpp>

#include <prometheus/client_metric.h>
#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>

#include <memory>
#include <utility>
#include <vector>

namespace leasehold {

/// Exports the counts of `metrics` through prometheus-cpp.
///
/// @code
/// const auto counted = std::make_shared<leasehold::metrics>();
/// const auto shown = std::make_shared<leasehold::prometheus_cpp_metrics>(counted);
/// exposer.RegisterCollectable(shown); // does not own it: keep `shown`
/// @endcode
///
/// @par Threads
/// All functions may be called from any thread.
class prometheus_cpp_metrics final : public prometheus::Collectable
{
public:
    /// @param counted Not null.
    explicit prometheus_cpp_metrics(std::shared_ptr<const metrics> counted)
        : counted_(std::move(counted))
    {}

    /// As `metrics::collect`. Counters have `_total` in their names.
    [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override
    {
        std::vector<prometheus::MetricFamily> all;
        for (metric_family& each : counted_->collect())
            all.push_back(converted(std::move(each)));
        return all;
    }

private:
    [[nodiscard]] static prometheus::MetricFamily converted(metric_family from)
    {
        prometheus::MetricFamily to;
        to.name = std::move(from.name);
        to.help = std::move(from.help);
        switch (from.type) {
        case metric_family::kind::counter:
            to.name += "_total";
            to.type = prometheus::MetricType::Counter;
            break;
        case metric_family::kind::gauge: to.type = prometheus::MetricType::Gauge; break;
        case metric_family::kind::histogram: to.type = prometheus::MetricType::Histogram; break;
        }
        for (metric_family::point& each : from.points)
            to.metric.push_back(converted(std::move(each)));
        return to;
    }

    /// Prometheus reads only the member that belongs to the type.
    [[nodiscard]] static prometheus::ClientMetric converted(metric_family::point from)
    {
        prometheus::ClientMetric to;
        for (auto& [name, value] : from.labels) {
            prometheus::ClientMetric::Label label;
            label.name = std::move(name);
            label.value = std::move(value);
            to.label.push_back(std::move(label));
        }
        to.counter.value = from.value;
        to.gauge.value = from.value;
        for (const metric_family::bucket& each : from.buckets) {
            prometheus::ClientMetric::Bucket bucket;
            bucket.cumulative_count = each.count;
            bucket.upper_bound = each.upper;
            to.histogram.bucket.push_back(bucket);
        }
        to.histogram.sample_count = from.buckets.empty() ? 0 : from.buckets.back().count;
        to.histogram.sample_sum = from.sum;
        return to;
    }

    const std::shared_ptr<const metrics> counted_; // const: a move copies it
};

} // namespace leasehold

#endif
