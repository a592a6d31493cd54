#include "store/redis/protocol/script.hpp"

#include <leasehold_scripts.hpp>

#include <boost/uuid/detail/sha1.hpp>

namespace leasehold::redis_store {

script::script(std::string_view source) : text(source)
{
    boost::uuids::detail::sha1 hash;
    hash.process_bytes(text.data(), text.size());
    boost::uuids::detail::sha1::digest_type digest;
    hash.get_digest(digest);
    constexpr char digits[] = "0123456789abcdef";
    for (const unsigned char byte : digest) {
        sha += digits[byte >> 4];
        sha += digits[byte & 15];
    }
}

const script& acquire_script()
{
    static const script value(scripts::acquire);
    return value;
}

const script& renew_script()
{
    static const script value(scripts::renew);
    return value;
}

const script& release_script()
{
    static const script value(scripts::release);
    return value;
}

const native_scripts& of_native()
{
    static const native_scripts all{
        .acquire = script(scripts::native_acquire),
        .release = script(scripts::native_release),
        .leave = script(scripts::native_leave),
        .enter = script(scripts::native_enter),
        .renew = script(scripts::native_renew),
        .raise = script(scripts::native_raise),
    };
    return all;
}

const script& check_script()
{
    static const script value(scripts::check);
    return value;
}

} // namespace leasehold::redis_store
