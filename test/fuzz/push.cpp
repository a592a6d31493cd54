// The first line contains the watched names, separated by blanks, and the rest is sent by the
// server.
#include "fuzz/server_stream.hpp"
#include "fuzz/targets.hpp"

#include "core/async/context_poster.hpp"
#include "redis/connection/environment.hpp"
#include "redis/connection/push_inbox.hpp"
#include "redis/protocol/key_names.hpp"
#include "redis/wakeups/subscriptions.hpp"

#include <leasehold/store.hpp>

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace leasehold::fuzz {
namespace {

using boost::redis::resp3::type;

class listener final : public store_listener
{
public:
    void on_wakeup(std::string_view name) override { hints.emplace(name); }
    void on_connected(store_partition) override { fail("watches do not connect"); }
    void on_disconnected(store_partition, error_code) override { fail("watches do not connect"); }

    std::multiset<std::string> hints;
};

std::string channel_of(const std::string& name)
{
    std::string channel;
    redis_store::release_channel(name, channel);
    return channel;
}

// The texts in a message, at any depth.
std::vector<std::string> words(const message& said)
{
    std::vector<std::string> result;
    for (const auto& node : said) {
        const bool error = node.data_type == type::simple_error ||
                           node.data_type == type::blob_error;
        if (node.depth > 0 && !error)
            result.push_back(node.value);
    }
    return result;
}

} // namespace

void push(std::string_view input)
{
    std::string_view line = take_line(input).substr(0, 256);
    std::set<std::string> names;
    while (!line.empty() && names.size() < 4) {
        const std::string_view name = line.substr(0, line.find(' '));
        line.remove_prefix(std::min(name.size() + 1, line.size()));
        if (!name.empty())
            names.emplace(name);
    }

    // There is no connection, because nothing runs here, so its messages are passed in below. The
    // objects are made once, because that takes long. At the end no name is watched.
    static asio::io_context context(1);
    static listener told;
    static const auto subscriptions = std::make_shared<redis_store::subscriptions>(
        redis_config("unix:///nowhere"), redis_store::system_environment());
    static const bool opened = [] {
        subscriptions->open(context.get_executor(),
                            detail::context_poster::make(context.get_executor()), told);
        return true;
    }();
    static_cast<void>(opened);
    for (const std::string& each : names)
        subscriptions->watch(each);

    redis_store::connection_observer& user = *subscriptions;
    redis_store::push_inbox collected;
    boost::redis::any_adapter adapter = collected.adapter();
    server_stream stream;
    stream.add(input);
    while (stream.read(nullptr, adapter) == server_stream::result::pushed) {
        const std::vector<std::string> said = words(stream.last());
        std::multiset<std::string> due;
        if (said.size() >= 2 && (said[0] == "message" || said[0] == "subscribe")) {
            for (const std::string& each : names) {
                if (channel_of(each) == said[1])
                    due.insert(each);
            }
        }
        const auto messages = collected.take();
        require(messages.size() == (said.empty() ? 0u : 1u) &&
                    (said.empty() || messages.front() == said),
                "a message is read as another");
        told.hints.clear();
        for (const auto& each : messages)
            user.on_push(each);
        for (const std::string& each : collected.take_errors())
            user.on_stray_error(each);
        require(told.hints == due,
                due.empty() ? "a hint out of nothing" : "a release does not notify all watchers");
    }

    // A name without a watch gets no wake-up any more, and the others do.
    while (!names.empty()) {
        const std::string gone = *names.begin();
        names.erase(names.begin());
        subscriptions->unwatch(gone);
        told.hints.clear();
        user.on_push({"message", channel_of(gone), "0"});
        const bool shared = std::any_of(names.begin(), names.end(), [&](const std::string& each) {
            return channel_of(each) == channel_of(gone);
        });
        require(told.hints.count(gone) == 0, "a wake-up for a client that has ended its watch");
        require(!told.hints.empty() == shared, "who still watches is forgotten");
    }
}

} // namespace leasehold::fuzz
