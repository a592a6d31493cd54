#ifndef LEASEHOLD_SRC_CORE_LEASE_INPLACE_SIGNAL_HPP
#define LEASEHOLD_SRC_CORE_LEASE_INPLACE_SIGNAL_HPP

#include <boost/asio/cancellation_type.hpp>

#include <new>
#include <type_traits>
#include <utility>

namespace leasehold::detail {

/// A cancellation signal that needs no memory: its handler is no larger than a pointer and is kept
/// inside. Each lease has one.
class inplace_signal
{
public:
    /// Meets the requirements of Asio's CancellationSlot. An operation emplaces its handler here.
    class slot_type
    {
    public:
        template <class Handler, class... Args>
        Handler& emplace(Args&&... args) noexcept
        {
            static_assert(sizeof(Handler) <= sizeof(void*) && alignof(Handler) <= alignof(void*));
            static_assert(std::is_trivially_copyable_v<Handler>);
            of_->call_ = [](const void* handler, boost::asio::cancellation_type type) {
                Handler copy = *static_cast<const Handler*>(handler); // the call may replace it
                copy(type);
            };
            return *::new (static_cast<void*>(of_->handler_)) Handler{std::forward<Args>(args)...};
        }
        template <class Handler>
        Handler& assign(Handler handler) noexcept
        {
            return emplace<Handler>(handler);
        }
        void clear() noexcept { of_->call_ = nullptr; }
        [[nodiscard]] bool is_connected() const noexcept { return true; }
        [[nodiscard]] bool has_handler() const noexcept { return of_->call_ != nullptr; }
        friend bool operator==(slot_type, slot_type) noexcept = default;

    private:
        friend inplace_signal;
        explicit slot_type(inplace_signal& of) noexcept : of_(&of) {}

        inplace_signal* of_;
    };

    inplace_signal() = default;
    inplace_signal(const inplace_signal&) = delete;
    inplace_signal& operator=(const inplace_signal&) = delete;

    [[nodiscard]] slot_type slot() noexcept { return slot_type(*this); }

    void emit(boost::asio::cancellation_type type)
    {
        if (call_ != nullptr)
            call_(handler_, type);
    }

private:
    void (*call_)(const void*, boost::asio::cancellation_type) = nullptr;
    alignas(void*) unsigned char handler_[sizeof(void*)]{};
};

} // namespace leasehold::detail

#endif
