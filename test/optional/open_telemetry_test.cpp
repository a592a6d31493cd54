// The header for OpenTelemetry, with a tracer that stores its spans.
#include <boost/test/unit_test.hpp>

#include "metrics/every_event.hpp"

#include <leasehold/extras/open_telemetry.hpp>

#include <boost/asio/error.hpp>

#include <opentelemetry/trace/default_span.h>
#include <opentelemetry/trace/span_context.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace otel = opentelemetry;
using namespace leasehold;
using namespace std::chrono_literals;

namespace {

struct seen_span
{
    std::string name;
    std::map<std::string, std::string> texts;
    std::map<std::string, std::int64_t> numbers;
    bool failed = false;
    std::chrono::nanoseconds begun{}, ended{};
};

class remembered_span final : public otel::trace::DefaultSpan
{
public:
    explicit remembered_span(std::shared_ptr<seen_span> into)
        : DefaultSpan(otel::trace::SpanContext::GetInvalid()), into_(std::move(into))
    {}

    void SetAttribute(otel::nostd::string_view key,
                      const otel::common::AttributeValue& value) noexcept override
    {
        const std::string name(key.data(), key.size());
        if (const auto* const text = otel::nostd::get_if<otel::nostd::string_view>(&value))
            into_->texts[name] = std::string(text->data(), text->size());
        if (const auto* const number = otel::nostd::get_if<std::int64_t>(&value))
            into_->numbers[name] = *number;
        if (const auto* const flag = otel::nostd::get_if<bool>(&value))
            into_->numbers[name] = *flag ? 1 : 0;
    }

    void SetStatus(otel::trace::StatusCode status, otel::nostd::string_view) noexcept override
    {
        into_->failed = status == otel::trace::StatusCode::kError;
    }

    void End(const otel::trace::EndSpanOptions& options) noexcept override
    {
        into_->ended = options.end_steady_time.time_since_epoch();
    }

private:
    std::shared_ptr<seen_span> into_;
};

class remembering_tracer final : public otel::trace::Tracer
{
public:
    otel::nostd::shared_ptr<otel::trace::Span> StartSpan(
        otel::nostd::string_view name, const otel::common::KeyValueIterable&,
        const otel::trace::SpanContextKeyValueIterable&,
        const otel::trace::StartSpanOptions& options) noexcept override
    {
        spans.push_back(std::make_shared<seen_span>());
        spans.back()->name = std::string(name.data(), name.size());
        spans.back()->begun = options.start_steady_time.time_since_epoch();
        return otel::nostd::shared_ptr<otel::trace::Span>(new remembered_span(spans.back()));
    }

#if OPENTELEMETRY_ABI_VERSION_NO == 1
    void ForceFlushWithMicroseconds(std::uint64_t) noexcept override {}
    void CloseWithMicroseconds(std::uint64_t) noexcept override {}
#endif

    std::vector<std::shared_ptr<seen_span>> spans;
};

} // namespace

BOOST_AUTO_TEST_CASE(each_wait_and_each_hold_is_a_span)
{
    auto* const tracer = new remembering_tracer;
    open_telemetry_spans spans{otel::nostd::shared_ptr<otel::trace::Tracer>(tracer)};
    test::notify_every_event(spans);
    BOOST_TEST_REQUIRE(tracer->spans.size() == 5u);
    const auto is = [&](std::size_t i, const char* name, const char* lock,
                        std::chrono::nanoseconds took, bool failed) {
        const seen_span& span = *tracer->spans[i];
        BOOST_TEST(span.name == name);
        BOOST_TEST(span.texts.at("lock.name") == lock);
        BOOST_TEST((span.ended - span.begun == took));
        BOOST_TEST(span.failed == failed);
    };
    is(0, "lock.wait", "order:1", 120ms, false);
    is(1, "lock.wait", "order:2", 7ms, false);
    is(2, "lock.hold", "order:2", 40ms, false);
    is(3, "lock.wait", "a \"quoted\" \\ name\n", 1s, true);
    is(4, "lock.hold", "order:1", 3s, true);
    BOOST_TEST(tracer->spans[0]->numbers.at("lock.fence") == 1);
    BOOST_TEST(tracer->spans[1]->numbers.at("lock.handed_off") == 1);
    BOOST_TEST(tracer->spans[3]->texts.at("lock.holder") == "0a1b2c3d");
}

BOOST_AUTO_TEST_CASE(cancelled_wait_is_no_error)
{
    auto* const tracer = new remembering_tracer;
    open_telemetry_spans spans{otel::nostd::shared_ptr<otel::trace::Tracer>(tracer)};
    observer& to = spans;
    to.not_acquired("a", boost::asio::error::operation_aborted, 1s, {});
    BOOST_TEST_REQUIRE(tracer->spans.size() == 1u);
    BOOST_TEST(!tracer->spans[0]->failed);
}
