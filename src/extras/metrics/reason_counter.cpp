#include "extras/metrics/instruments.hpp"

#include <boost/asio/error.hpp>

#include <string_view>

namespace leasehold::detail {
namespace {

std::string_view name_of(errc e) noexcept
{
    switch (e) {
    case errc::held: return "held";
    case errc::timed_out: return "timed_out";
    case errc::lost: return "lost";
    case errc::expired: return "expired";
    case errc::not_owner: return "not_owner";
    case errc::hold_limit: return "hold_limit";
    case errc::no_quorum: return "no_quorum";
    case errc::not_replicated: return "not_replicated";
    case errc::wrong_type: return "wrong_type";
    case errc::invalid_name: return "invalid_name";
    case errc::invalid_option: return "invalid_option";
    case errc::invalid_url: return "invalid_url";
    case errc::not_supported: return "not_supported";
    case errc::not_running: return "not_running";
    case errc::shut_down: return "shut_down";
    case errc::permission_denied: return "permission_denied";
    case errc::store_refused: return "store_refused";
    case errc::store_unavailable: return "store_unavailable";
    case errc::outcome_unknown: return "outcome_unknown";
    case errc::already_running: return "already_running";
    case errc::silent: return "silent";
    }
    return "other";
}

} // namespace

void reason_counter::add(error_code why) noexcept
{
    std::size_t at = others;
    if (why.category() == lock_category() && why.value() > 0 &&
        place(static_cast<errc>(why.value())) < counts_.size())
        at = place(static_cast<errc>(why.value()));
    else if (why == boost::asio::error::operation_aborted)
        at = cancelled;
    counts_[at].add();
}

std::string_view reason_counter::name(std::size_t at) noexcept
{
    if (at == others)
        return "other";
    if (at == cancelled)
        return "cancelled";
    return name_of(static_cast<errc>(at - first + 1));
}

} // namespace leasehold::detail
