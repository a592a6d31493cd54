#ifndef LEASEHOLD_SRC_TESTING_CALL_HPP
#define LEASEHOLD_SRC_TESTING_CALL_HPP

#include <leasehold/clock.hpp>
#include <leasehold/store.hpp>
#include <leasehold/testing/host.hpp>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace leasehold::testing::impl {

class host_state;
class simulated_store;

/// What a server says to a call.
struct answer
{
    error_code failed;
    bool script_missing = false;
    acquire_reply acquired;
    release_reply released;
    std::vector<renewal_result> renewed;
    std::int64_t server_us = 0;
};

/// A request of a client, from its sending to its end.
struct call : boost::intrusive_ref_counter<call, boost::thread_unsafe_counter>
{
    enum class kind : std::uint8_t
    {
        acquire,
        renew,
        release,
        subscribe,
        unsubscribe,
    };

    struct item
    {
        std::string name;
        std::string owner;
        std::string entry;
        std::chrono::milliseconds lease;
    };

    call(kind which, std::weak_ptr<simulated_store> sender, host_state& where)
        : what(which), from(std::move(sender)), host(where)
    {}

    /// The step that is three steps on from this one: sent, ran, answered.
    [[nodiscard]] bool has_steps() const noexcept { return what <= kind::release; }
    [[nodiscard]] step sent_step() const noexcept
    {
        return static_cast<step>(3 * static_cast<int>(what));
    }
    [[nodiscard]] step ran_step() const noexcept
    {
        return static_cast<step>(3 * static_cast<int>(what) + 1);
    }
    [[nodiscard]] step answered_step() const noexcept
    {
        return static_cast<step>(3 * static_cast<int>(what) + 2);
    }

    const kind what;
    const std::weak_ptr<simulated_store> from;
    host_state& host;
    std::uint64_t connection = 0;
    clock::time_point sent_at{}; ///< By the host's clock.
    clock::time_point sent{};    ///< True.
    unsigned attempts = 0;
    unsigned arrivals = 0;
    bool done = false;

    std::string name;
    std::string owner;
    std::string entry;
    std::chrono::milliseconds lease{};
    std::uint32_t fences = 0;
    std::int64_t latest = 0;
    std::vector<item> items;

    std::variant<std::monostate, store::acquire_handler, store::renew_handler,
                 store::release_handler>
        handler;
};

using call_ptr = boost::intrusive_ptr<call>;

} // namespace leasehold::testing::impl

#endif
