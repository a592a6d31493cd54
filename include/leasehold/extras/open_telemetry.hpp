#ifndef LEASEHOLD_EXTRAS_OPEN_TELEMETRY_HPP
#define LEASEHOLD_EXTRAS_OPEN_TELEMETRY_HPP

// For programs that use OpenTelemetry, which must find and link it themselves. No other header
// includes this one.
#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>
#include <leasehold/observer.hpp>

#include <opentelemetry/common/attribute_value.h>
#include <opentelemetry/common/timestamp.h>
#include <opentelemetry/nostd/shared_ptr.h>
#include <opentelemetry/nostd/string_view.h>
#include <opentelemetry/trace/span.h>
#include <opentelemetry/trace/span_metadata.h>
#include <opentelemetry/trace/span_startoptions.h>
#include <opentelemetry/trace/tracer.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold {

/// Creates a span for each wait and for each hold, when it ends.
///
/// `lock.wait` is the time from the call to the lease or the error. `lock.hold` is the time from
/// the grant to the release or the loss. Attributes: `lock.name`, `lock.fence`, `lock.handed_off`,
/// and `lock.holder` after an error. Failed waits, except cancelled ones, and lost leases have the
/// status error.
///
/// The spans belong to no trace of the program, because the library does not know the trace of a
/// caller. Search for them by name and fence.
///
/// @code
/// const auto tracer = opentelemetry::trace::Provider::GetTracerProvider()->GetTracer("locks");
/// leasehold::client locks(context, "redis://127.0.0.1",
///                         std::make_shared<leasehold::open_telemetry_spans>(tracer));
/// @endcode
///
/// @par Threads
/// As `observer`: called on the strand of the client. Several clients may call the tracer at the
/// same time.
class open_telemetry_spans final : public observer
{
public:
    /// @param tracer Not null.
    explicit open_telemetry_spans(
        opentelemetry::nostd::shared_ptr<opentelemetry::trace::Tracer> tracer)
        : tracer_(std::move(tracer))
    {}

    /// Ends the span of a wait.
    void acquired(std::string_view name, std::uint64_t fence, duration waited,
                  bool handed_off) noexcept override
    {
        emit("lock.wait", name, waited, [&](opentelemetry::trace::Span& span) {
            span.SetAttribute("lock.fence", signed_fence(fence));
            span.SetAttribute("lock.handed_off", handed_off);
        });
    }

    /// Ends the span of a wait.
    void not_acquired(std::string_view name, error_code why, duration waited,
                      const diagnostics& details) noexcept override
    {
        emit("lock.wait", name, waited, [&](opentelemetry::trace::Span& span) {
            if (!details.holder.empty())
                span.SetAttribute("lock.holder", text(details.holder));
            if (why != boost::system::errc::operation_canceled)
                failed(span, why);
        });
    }

    /// Ends the span of a hold.
    void released(std::string_view name, std::uint64_t fence, duration held) noexcept override
    {
        emit("lock.hold", name, held, [&](opentelemetry::trace::Span& span) {
            span.SetAttribute("lock.fence", signed_fence(fence));
        });
    }

    /// Ends the span of a hold.
    void lost(std::string_view name, std::uint64_t fence, duration held, error_code reason,
              const diagnostics&) noexcept override
    {
        emit("lock.hold", name, held, [&](opentelemetry::trace::Span& span) {
            span.SetAttribute("lock.fence", signed_fence(fence));
            failed(span, reason);
        });
    }

private:
    [[nodiscard]] static opentelemetry::nostd::string_view text(std::string_view from) noexcept
    {
        return {from.data(), from.size()};
    }

    /// Not all exporters support unsigned attributes. Fences are far below the limit.
    [[nodiscard]] static std::int64_t signed_fence(std::uint64_t fence) noexcept
    {
        return static_cast<std::int64_t>(fence);
    }

    static void failed(opentelemetry::trace::Span& span, error_code why)
    {
        span.SetStatus(opentelemetry::trace::StatusCode::kError, why.message());
    }

    template <class F>
    void emit(const char* what, std::string_view name, duration took, F add) noexcept
    {
        try {
            const auto steady = std::chrono::steady_clock::now();
            opentelemetry::trace::StartSpanOptions begun;
            begun.start_system_time =
                std::chrono::system_clock::now() -
                std::chrono::duration_cast<std::chrono::system_clock::duration>(took);
            begun.start_steady_time = steady - took;
            const auto span = tracer_->StartSpan(what, begun);
            span->SetAttribute("lock.name", text(name));
            add(*span);
            opentelemetry::trace::EndSpanOptions ended;
            ended.end_steady_time = steady;
            span->End(ended);
        }
        catch (const std::exception&) {
            // This span is lost.
        }
    }

    opentelemetry::nostd::shared_ptr<opentelemetry::trace::Tracer> tracer_;
};

} // namespace leasehold

#endif
