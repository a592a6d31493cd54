#ifndef LEASEHOLD_SRC_TESTING_CONTRACT_CONTRACT_PAIR_HPP
#define LEASEHOLD_SRC_TESTING_CONTRACT_CONTRACT_PAIR_HPP

#include <leasehold/testing/store_contract.hpp>
#include <leasehold/testing/store_session.hpp>

#include <chrono>
#include <string>
#include <string_view>

// Helpers for the cases of the store contract.
namespace leasehold::testing::contract {

using namespace std::chrono_literals;
using granted_t = acquire_reply::outcome;
using released_t = release_reply::outcome;

inline void expect(bool held, const char* text, const char* file, int line)
{
    if (!held)
        throw contract_violation(std::string(file) + ':' + std::to_string(line) + ": " + text);
}

inline acquire_request take(std::string_view name, std::string_view owner,
                            std::chrono::milliseconds lease = 10s)
{
    return {.name = name, .owner = owner, .entry = {}, .lease = lease, .fences = 1, .budget = 10s};
}

/// As `take`, of an owner that has sent a request before. For another owner, it finds out who holds
/// the lock, and for how long.
inline acquire_request look(std::string_view name, std::string_view owner,
                            std::chrono::milliseconds lease = 10s)
{
    acquire_request request = take(name, owner, lease);
    request.again = true;
    return request;
}

inline acquire_request again(std::string_view name, std::string_view owner, std::string_view entry,
                             std::chrono::milliseconds lease = 10s)
{
    return {
        .name = name, .owner = owner, .entry = entry, .lease = lease, .fences = 1, .budget = 10s};
}

/// Two clients of one server.
struct pair
{
    explicit pair(store_lab& tested)
        : lab(tested), a(context, lab.make_store()), b(context, lab.make_store())
    {
        a.wait_until_connected();
        b.wait_until_connected();
    }
    store_lab& lab;
    asio::io_context context;
    store_session a, b;
    const store_traits traits = a.get().traits();

    granted_t acquire_by(store_session& session, std::string_view owner,
                         std::string_view name = "lock")
    {
        return session.acquire(take(name, owner)).reply.result;
    }
    /// Repeats the request until its outcome is known, as every client does.
    store_session::answer<acquire_reply> certain(store_session& session, acquire_request request)
    {
        for (int tries = 0;; ++tries) {
            auto got = session.acquire(request);
            if (got.code != errc::outcome_unknown || tries == 3)
                return got;
            request.again = true;
        }
    }
    released_t release_by(store_session& session, std::string_view owner,
                          std::string_view entry = {})
    {
        return session.release({.name = "lock", .owner = owner, .entry = entry}).reply.result;
    }
};

/// Runs a case, unless the store does not support what it tests. A listener that is called where it
/// must not be is a violation in every case.
template <void (*Body)(pair&), bool store_traits::* Needed = nullptr>
void run(store_lab& lab)
{
    pair p(lab);
    if constexpr (Needed != nullptr) {
        if (!(p.traits.*Needed))
            return;
    }
    Body(p);
    expect(!p.a.listener_misused, "!p.a.listener_misused", "contract_pair", __LINE__);
    expect(!p.b.listener_misused, "!p.b.listener_misused", "contract_pair", __LINE__);
}

/// A case of stores whose locks and positions have a TTL of their own.
template <void (*Body)(pair&)>
void without_session(pair& p)
{
    if (!p.traits.session)
        Body(p);
}

} // namespace leasehold::testing::contract

#endif
