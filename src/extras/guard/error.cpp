#include <leasehold/extras/guard/error.hpp>

#include <string>

namespace leasehold::guard {
namespace {

const char* text(errc e) noexcept
{
    switch (e) {
    case errc::stale_fence: return "a larger fence has written before";
    case errc::missing_fence: return "the request carries no fence";
    case errc::invalid_fence: return "the fence is 0, not a number, or too large";
    case errc::invalid_identifier: return "invalid name of a table or column";
    case errc::invalid_write: return "the guarded write has no command, or an empty one";
    case errc::different_slots: return "the fence and the data are in different slots";
    case errc::damaged_fence: return "what is stored in place of the fence is no fence";
    case errc::write_failed: return "the fence was accepted, but the write failed";
    }
    return "unknown error of a guard";
}

class guard_category_type final : public boost::system::error_category
{
public:
    const char* name() const noexcept override { return "leasehold.guard"; }
    std::string message(int value) const override { return text(static_cast<errc>(value)); }
};

} // namespace

const boost::system::error_category& guard_category() noexcept
{
    static const guard_category_type category;
    return category;
}

error_code check_fence(std::uint64_t fence) noexcept
{
    return fence == 0 || fence > largest_fence ? make_error_code(errc::invalid_fence)
                                               : error_code();
}

} // namespace leasehold::guard
