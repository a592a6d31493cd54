#include "sim/model_comparison.hpp"

#include "sim/script_invariants.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"
#include "support/shifted_clock.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace leasehold::test {

using std::chrono::microseconds;
using testing::impl::generator;
using testing::impl::message;
using testing::impl::redis_model;

namespace {

constexpr std::size_t all_steps = 40'000;
constexpr std::size_t steps = LEASEHOLD_MODEL_STEPS;
constexpr std::size_t steps_at_a_time = 50;

/// The code of an error, because the rest contains lines of the script, and changes between
/// versions. Errors of this library's scripts are compared completely.
std::string without_details(std::string_view error)
{
    if (error.find(" holds ") != std::string_view::npos)
        return "error: " + std::string(error);
    return "error: " + std::string(error.substr(0, error.find(' ')));
}

/// Kind of command, and the beginning of its reply.
std::string kind_of(const comparison& how, const command& asked, const std::string& told)
{
    std::string kind = asked[0];
    if (kind == "EVALSHA" || kind == "EVAL") {
        if (asked[2] == "0")
            return "check " + told;
        kind = how.script_of(asked);
    }
    const std::string begins = told.starts_with("error")
                                   ? told.substr(0, told.find(' ', sizeof "error: "))
                                   : how.beginning(kind, asked, told);
    return kind + ' ' + begins;
}

std::string told_by(const resp_value& value)
{
    return value.is_error() ? without_details(value.text) : describe(value);
}

std::string text(const command& asked)
{
    std::string all;
    for (std::size_t i = 0; i < asked.size(); ++i)
        all += (i == 1 && asked[0] == "EVAL" ? "(text)" : asked[i]) + ' ';
    return all;
}

/// Sometimes revokes one or two rights of the user, or restores all.
void change_rights(const comparison& how, generator& random, resp_client& server,
                   redis_model& model)
{
    command asked = {"ACL", "SETUSER", "default", "+@all"};
    model.denied.clear();
    for (auto lost = random.below(3); lost > 0; --lost) {
        model.denied.push_back(
            how.rights[static_cast<std::size_t>(random.below(how.rights.size()))]);
        asked.push_back('-' + model.denied.back());
    }
    server.send_bytes(make_request(asked));
    BOOST_TEST(describe(server.receive()) == "OK");
}

/// The subscribers of the published messages.
class audience
{
public:
    audience(const redis_server& process, const comparison& how)
        : channels_(how.channels), server_(process.connect())
    {
        for (const std::string& each : channels_) {
            server_.send_bytes(make_request({"SUBSCRIBE", each}));
            static_cast<void>(server_.receive());
        }
    }

    /// The model has published a message. Returns the number of receivers.
    std::int64_t hear(std::string_view channel, std::string_view said)
    {
        if (std::find(channels_.begin(), channels_.end(), channel) == channels_.end())
            return 0;
        expected_.push_back('"' + std::string(channel) + "\", \"" + std::string(said) + '"');
        return 1;
    }

    /// Checks that the server has published the same messages.
    void compare()
    {
        for (const std::string& each : std::exchange(expected_, {})) {
            const std::string told = describe(server_.receive());
            BOOST_TEST(told.find(each) != std::string::npos,
                       "the server publishes " << told << ", the model " << each);
        }
    }

private:
    const std::vector<std::string> channels_;
    resp_client server_;
    std::vector<std::string> expected_;
};

} // namespace

void name_run(resp_client& server, testing::impl::redis_model& model)
{
    const std::string told = describe(server.command({"INFO", "server"}));
    const auto at = told.find("run_id:") + sizeof "run_id:" - 1;
    model.run_id = told.substr(at, 40);
}

bool calls(const command& asked, const redis_store::script& which)
{
    return asked[1] == (asked[0] == "EVAL" ? which.text : std::string_view(which.sha));
}

std::string said_by(const message& said)
{
    using boost::redis::resp3::type;
    std::string items;
    for (const auto& node : said.nodes()) {
        switch (node.data_type) {
        case type::simple_error: return without_details(node.value);
        case type::array:
        case type::map: continue;
        case type::null: return "nil";
        case type::blob_string: items += (items.empty() ? "\"" : ", \"") + node.value + '"'; break;
        default: items += (items.empty() ? "" : ", ") + node.value;
        }
    }
    const auto first = said.nodes().front().data_type;
    return first == type::array || first == type::map ? '[' + items + ']' : items;
}

message execute(redis_model& model, const command& asked, microseconds now)
{
    const std::vector<std::string_view> words(asked.begin(), asked.end());
    return model.execute(words, now.count(), {});
}

namespace {

using counts = std::map<std::string, std::size_t>;

void compare(const comparison& how, std::uint64_t seed, counts& seen)
{
    shifted_clock clock;
    clock.freeze_all();
    redis_server process({"--enable-debug-command", "yes"}, {.environment = clock.environment()});
    resp_client server = process.connect();
    audience listening(process, how);
    // An expired key then remains until it is accessed. Otherwise Redis 8 may or may not have
    // removed it in the millisecond of its expiry, and both replies are right.
    BOOST_REQUIRE(!server.command({"DEBUG", "SET-ACTIVE-EXPIRE", "0"}).is_error());
    redis_model model;
    model.publish = [&](std::string_view channel, std::string_view said) {
        return listening.hear(channel, said);
    };
    if (!server.command({"DELIFEQ", "nothing", "-"}).is_error())
        model.product = testing::server::product::valkey_9;
    else if (!server.command({"DELEX", "nothing", "IFEQ", "-"}).is_error())
        model.product = testing::server::product::redis_8_4;
    if (how.prepare)
        how.prepare(server, model);
    script_invariants invariants(model);
    generator random(seed);
    for (std::size_t done = 0; done < steps; done += steps_at_a_time) {
        const auto time = server.strings({"TIME"});
        const microseconds now(std::stoll(time.at(0)) * 1'000'000 + std::stoll(time.at(1)));
        if (random.below(3) == 0)
            change_rights(how, random, server, model);
        std::vector<command> together;
        std::string bytes;
        for (std::size_t i = 0; i < steps_at_a_time; ++i) {
            together.push_back(how.any_command(random, now));
            bytes += make_request(together.back());
        }
        server.send_bytes(bytes);
        bool same = true;
        for (const command& each : together) {
            const std::string told = told_by(server.receive());
            const std::vector<std::string_view> words(each.begin(), each.end());
            model.data.at(now.count() / 1000, {});
            invariants.before(words);
            const message reply = execute(model, each, now);
            const std::string said = said_by(reply);
            if (const std::string broken = invariants.after(words, reply); !broken.empty()) {
                BOOST_ERROR("after " << done << " commands, " << text(each) << ": " << broken);
                return;
            }
            ++seen[kind_of(how, each, told)];
            if (told != said && std::exchange(same, false))
                BOOST_ERROR("after " << done << " commands, " << text(each) << ": the server says "
                                     << told << ", the model " << said);
        }
        if (!same)
            return;
        listening.compare();
        // Mostly within leases, sometimes far beyond. Never back: a server removes expired keys at
        // a time of its choice, so after a step back both replies are right.
        clock.advance(microseconds(random.below(100) < 92 ? random.between(1, 15'000)
                                                          : random.between(1, 200'000)));
    }
}

} // namespace

void compare(const comparison& how, std::initializer_list<std::uint64_t> seeds)
{
    counts seen;
    for (const std::uint64_t seed : seeds)
        compare(how, seed, seen);
    // Fewer steps do not reach the rare replies.
    if (steps < all_steps)
        return;
    for (const std::string& each : how.expected)
        BOOST_TEST(seen[each] >= 20u, each << " came " << seen[each] << " times");
}

} // namespace leasehold::test
