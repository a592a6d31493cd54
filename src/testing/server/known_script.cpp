#include "testing/server/known_script.hpp"

#include <cstddef>
#include <unordered_map>

namespace leasehold::testing::impl {

using redis_store::script;

const script& source_of(known_script called)
{
    const redis_store::native_scripts& native = redis_store::of_native();
    const redis_store::quorum_scripts& quorum = redis_store::of_quorum();
    switch (called) {
    case known_script::acquire: return redis_store::acquire_script();
    case known_script::renew: return redis_store::renew_script();
    case known_script::release: return redis_store::release_script();
    case known_script::release_all: return redis_store::release_all_script();
    case known_script::queue_acquire: return redis_store::of_queue().acquire;
    case known_script::queue_leave: return redis_store::of_queue().leave;
    case known_script::native_acquire: return native.acquire;
    case known_script::native_release: return native.release;
    case known_script::native_release_all: return native.release_all;
    case known_script::native_leave: return native.leave;
    case known_script::native_reenter: return native.reenter;
    case known_script::native_renew: return native.renew;
    case known_script::native_renew_brief: return native.renew_brief;
    case known_script::native_alive: return native.alive;
    case known_script::native_raise: return native.raise;
    case known_script::native_check: return native.check;
    case known_script::quorum_acquire: return quorum.acquire;
    case known_script::quorum_reenter: return quorum.reenter;
    case known_script::quorum_renew: return quorum.renew;
    case known_script::quorum_release: return quorum.release;
    case known_script::quorum_inspect: return quorum.inspect;
    case known_script::quorum_adopt: return quorum.adopt;
    case known_script::quorum_seed: return quorum.seed;
    case known_script::quorum_check: return quorum.check;
    default: return redis_store::check_script();
    }
}

namespace {

using scripts_by_text = std::unordered_map<std::string_view, known_script>;

template <class F>
scripts_by_text index_by(F text_of)
{
    scripts_by_text all;
    for (std::size_t i = 0; i < static_cast<std::size_t>(known_script::count_); ++i) {
        const auto each = static_cast<known_script>(i);
        all.emplace(text_of(source_of(each)), each);
    }
    return all;
}

std::optional<known_script> find_in(const scripts_by_text& all, std::string_view wanted)
{
    const auto found = all.find(wanted);
    return found == all.end() ? std::nullopt : std::optional(found->second);
}

} // namespace

std::optional<known_script> find_by_text(std::string_view text)
{
    static const auto all = index_by([](const script& each) { return each.text; });
    return find_in(all, text);
}

std::optional<known_script> find_by_sha(std::string_view sha)
{
    static const auto all = index_by([](const script& each) { return std::string_view(each.sha); });
    return find_in(all, sha);
}

std::optional<known_script> script_of(words command)
{
    // Without a lock it is a check of a new connection.
    if (command.size() < 4 || (command[0] != "EVALSHA" && command[0] != "EVAL") ||
        command[2] == "0")
        return std::nullopt;
    return command[0] == "EVAL" ? find_by_text(command[1]) : find_by_sha(command[1]);
}

} // namespace leasehold::testing::impl
