#ifndef LEASEHOLD_SRC_CORE_TURN_STRAND_HPP
#define LEASEHOLD_SRC_CORE_TURN_STRAND_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <utility>
#include <variant>

namespace leasehold::detail {

namespace asio = boost::asio;

/// A strand over an erased executor. An `io_context` behind it is used as what it is: a strand
/// copies its executor each time it goes to work, and copies of an erased one took a tenth of a
/// handover.
class strand
{
public:
    explicit strand(const asio::any_io_executor& inner) : strand_(over(inner)) {}

    [[nodiscard]] asio::any_io_executor executor() const
    {
        return std::visit([](const auto& s) -> asio::any_io_executor { return s; }, strand_);
    }

    /// Whether the caller runs on it.
    [[nodiscard]] bool running_in_this_thread() const noexcept
    {
        return std::visit([](const auto& s) { return s.running_in_this_thread(); }, strand_);
    }

    /// Runs `f` now, when this is the strand, else soon.
    template <class F>
    void dispatch(F&& f) const
    {
        std::visit([&f](const auto& s) { s.execute(std::forward<F>(f)); }, strand_);
    }

    /// Runs `f`, never now.
    template <class F>
    void post(F&& f) const
    {
        std::visit([&f](const auto& s) { asio::post(s, std::forward<F>(f)); }, strand_);
    }

private:
    using io_context_executor = asio::io_context::executor_type;
    using known_strand = asio::strand<io_context_executor>;
    using erased_strand = asio::strand<asio::any_io_executor>;
    using either = std::variant<known_strand, erased_strand>;

    static either over(const asio::any_io_executor& inner)
    {
        if (const auto* known = inner.target<io_context_executor>())
            return either(std::in_place_type<known_strand>, *known);
        return either(std::in_place_type<erased_strand>, inner);
    }

    either strand_;
};

} // namespace leasehold::detail

#endif
