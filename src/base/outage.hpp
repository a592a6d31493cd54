#ifndef LEASEHOLD_SRC_BASE_OUTAGE_HPP
#define LEASEHOLD_SRC_BASE_OUTAGE_HPP

#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>
#include <leasehold/store.hpp>

#include <memory>

namespace leasehold::detail {

/// Why a store with one partition has no connection.
class outage
{
public:
    [[nodiscard]] error_code code() const noexcept { return code_; }
    /// Null: there is a connection, or no attempt has failed.
    [[nodiscard]] const std::shared_ptr<const diagnostics>& details() const noexcept
    {
        return details_;
    }

    /// Reports it, unless it was the last report: each attempt may fail for the same reason. The
    /// listener may set the pointer to null meanwhile.
    void report(error_code why, const diagnostics& details, store_listener* const& to)
    {
        if (details_ && code_ == why && *details_ == details)
            return;
        code_ = why;
        details_ = std::make_shared<diagnostics>(details);
        if (to != nullptr)
            to->on_error(0, why, details);
        if (to != nullptr)
            to->on_disconnected(0, why);
    }

    /// There is a connection.
    void end() noexcept
    {
        code_ = errc::store_unavailable;
        details_.reset();
    }

private:
    error_code code_ = errc::store_unavailable;
    std::shared_ptr<const diagnostics> details_;
};

} // namespace leasehold::detail

#endif
