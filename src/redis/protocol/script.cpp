#include "redis/protocol/script.hpp"

#include <leasehold_scripts.hpp>

#include <boost/uuid/detail/sha1.hpp>

#include <array>

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

const script& release_all_script()
{
    static const script value(scripts::release_all);
    return value;
}

const script& check_script()
{
    static const script value(scripts::check);
    return value;
}

const queue_scripts& of_queue()
{
    static const queue_scripts all{.acquire = script(scripts::queue_acquire),
                                   .leave = script(scripts::queue_leave)};
    return all;
}

const script_set& redisson_cluster_script_set()
{
    static const std::array all{&acquire_script(), &renew_script(), &release_script(),
                                &of_queue().acquire, &of_queue().leave};
    static const script_set value{all, &check_script(), &renew_script()};
    return value;
}

const script_set& redisson_script_set()
{
    static const std::array all{&acquire_script(),     &renew_script(),     &release_script(),
                                &release_all_script(), &of_queue().acquire, &of_queue().leave};
    static const script_set value{all, &check_script(), &renew_script()};
    return value;
}

const native_scripts& of_native()
{
    static const native_scripts all{
        .acquire = script(scripts::native_acquire),
        .release = script(scripts::native_release),
        .release_all = script(scripts::native_release_all),
        .leave = script(scripts::native_leave),
        .reenter = script(scripts::native_reenter),
        .renew = script(scripts::native_renew),
        .renew_brief = script(scripts::native_renew_brief),
        .alive = script(scripts::native_alive),
        .raise = script(scripts::native_raise),
        .check = script(scripts::native_check),
    };
    return all;
}

const script_set& native_cluster_script_set()
{
    static const native_scripts& each = of_native();
    static const std::array all{&each.acquire, &each.release, &each.leave,
                                &each.reenter, &each.renew,   &each.renew_brief};
    static const script_set value{all, &each.check, &each.renew};
    return value;
}

const script_set& native_script_set()
{
    static const native_scripts& each = of_native();
    static const std::array all{&each.acquire, &each.release, &each.release_all, &each.leave,
                                &each.reenter, &each.renew,   &each.renew_brief, &each.raise};
    static const script_set value{all, &each.check, &each.renew};
    return value;
}

const quorum_scripts& of_quorum()
{
    static const quorum_scripts all{
        .acquire = script(scripts::quorum_acquire),
        .reenter = script(scripts::quorum_reenter),
        .renew = script(scripts::quorum_renew),
        .release = script(scripts::quorum_release),
        .inspect = script(scripts::quorum_inspect),
        .adopt = script(scripts::quorum_adopt),
        .seed = script(scripts::quorum_seed),
        .check = script(scripts::quorum_check),
    };
    return all;
}

const script_set& quorum_script_set()
{
    static const quorum_scripts& each = of_quorum();
    static const std::array all{&each.acquire, &each.reenter, &each.renew, &each.release,
                                &each.inspect, &each.adopt,   &each.seed};
    static const script_set value{all, &each.check, &each.renew};
    return value;
}

} // namespace leasehold::redis_store
