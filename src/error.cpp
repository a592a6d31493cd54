#include <leasehold/error.hpp>

#include <string>

namespace leasehold {
namespace {

const char* text(errc e) noexcept
{
    switch (e) {
    case errc::held: return "another owner holds the lock";
    case errc::timed_out: return "the wait limit passed while another owner held the lock";
    case errc::lost: return "the lease was lost: the key is gone or has another owner";
    case errc::expired: return "the lease expired before a renewal was confirmed";
    case errc::not_owner: return "the lock is not held by this owner";
    case errc::hold_limit: return "the longest allowed time to hold the lock has passed";
    case errc::no_quorum: return "too few members of the quorum executed the request";
    case errc::not_replicated: return "too few replicas confirmed the lock";
    case errc::wrong_type: return "the key holds a value that is not a lock";
    case errc::invalid_name: return "invalid lock name";
    case errc::invalid_option: return "an option is outside its allowed range";
    case errc::invalid_url: return "invalid store URL";
    case errc::not_supported: return "not supported by this server or this library";
    case errc::not_running: return "client::async_run has not been called";
    case errc::shut_down: return "the client was shut down";
    case errc::permission_denied: return "the server denied permission";
    case errc::store_refused: return "the server did not execute the command; a retry may succeed";
    case errc::store_unavailable: return "the lock server cannot be reached";
    case errc::outcome_unknown: return "no reply was received; the command may have been executed";
    case errc::already_running: return "client::async_run was called before; a client runs once";
    case errc::silent: return "no heartbeat was confirmed in time; another owner may hold the lock";
    }
    return "unknown leasehold error";
}

const char* text(condition c) noexcept
{
    switch (c) {
    case condition::busy: return "the lock is busy";
    case condition::lease_ended: return "the lease has ended";
    case condition::bad_request: return "a retry of the request does not help";
    case condition::store_fault: return "the lock store failed";
    }
    return "unknown leasehold condition";
}

class lock_category_type final : public boost::system::error_category
{
public:
    const char* name() const noexcept override { return "leasehold"; }
    std::string message(int value) const override { return text(static_cast<errc>(value)); }
};

class condition_category_type final : public boost::system::error_category
{
public:
    const char* name() const noexcept override { return "leasehold.condition"; }
    std::string message(int value) const override { return text(static_cast<condition>(value)); }

    bool equivalent(const error_code& code, int value) const noexcept override
    {
        if (code.category() != lock_category())
            return false;
        const auto is = [e = static_cast<errc>(code.value())](auto... any) {
            return ((e == any) || ...);
        };
        switch (static_cast<condition>(value)) {
        case condition::busy: return is(errc::held, errc::timed_out);
        case condition::lease_ended:
            return is(errc::lost, errc::expired, errc::not_owner, errc::hold_limit, errc::silent);
        case condition::bad_request:
            return is(errc::wrong_type, errc::invalid_name, errc::invalid_option, errc::invalid_url,
                      errc::not_supported, errc::permission_denied, errc::already_running);
        case condition::store_fault:
            return is(errc::store_refused, errc::store_unavailable, errc::outcome_unknown,
                      errc::no_quorum, errc::not_replicated);
        }
        return false;
    }
};

} // namespace

const boost::system::error_category& lock_category() noexcept
{
    static const lock_category_type category;
    return category;
}

const boost::system::error_category& condition_category() noexcept
{
    static const condition_category_type category;
    return category;
}

} // namespace leasehold
