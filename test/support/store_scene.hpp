#ifndef LEASEHOLD_TEST_SUPPORT_STORE_SCENE_HPP
#define LEASEHOLD_TEST_SUPPORT_STORE_SCENE_HPP

#include "support/store_contract.hpp"

#include <leasehold/store.hpp>

#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::test {

/// A client of a store on a real server.
struct store_scene
{
    explicit store_scene(std::shared_ptr<store> made) : session(context, std::move(made)) {}

    /// Waits until a server accepts requests.
    store_scene& connected()
    {
        session.wait_until_connected();
        return *this;
    }

    /// Waits until the connection is lost. `disconnected` also counts failures before it.
    void lost()
    {
        session.until([this] { return session.online.empty(); });
    }

    /// Waits for the connection after `lost`.
    void connected_again()
    {
        session.until([this] { return !session.online.empty(); });
    }

    /// Waits until no server can be used, and returns the reply to an acquire.
    store_session::answer<acquire_reply> refused()
    {
        session.until([this] { return session.disconnected > 0; });
        return session.acquire(contract::take("lock", "a:1"));
    }

    /// Acquires locks in one turn of the strand. Returns the number of grants.
    int acquire_all(const std::vector<std::string>& names)
    {
        std::size_t answers = 0;
        int granted = 0;
        session.on_the_strand([&] {
            for (const std::string& name : names)
                session.get().async_acquire(
                    contract::take(name, "a:1"), [&](error_code code, auto reply) {
                        ++answers;
                        granted += !code && reply.result == acquire_reply::outcome::granted;
                    });
        });
        session.until([&] { return answers == names.size(); });
        return granted;
    }

    boost::asio::io_context context;
    store_session session;
};

inline std::string text_of(const store_session::answer<acquire_reply>& got)
{
    return got.reply.details ? got.reply.details->to_string() : "";
}

inline release_request leaving(std::string_view name, std::string_view owner)
{
    return {.name = name, .owner = owner, .entry = {}};
}

inline bool contains(const std::string& text, std::string_view part)
{
    return text.find(part) != std::string::npos;
}

/// The names "lock0", "lock1" and so on.
inline std::vector<std::string> lock_names(int count)
{
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i)
        names.push_back("lock" + std::to_string(i));
    return names;
}

} // namespace leasehold::test

#endif
