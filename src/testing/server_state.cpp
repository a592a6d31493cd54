#include "testing/server_state.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>
#include <utility>

namespace leasehold::testing::impl {
namespace {

// A server runs no two scripts in one microsecond, and fences are told apart by it when the
// counters are lost.
constexpr clock::duration least = std::chrono::microseconds(2);

std::string short_id(std::string_view owner)
{
    // The beginning tells clients apart, the end their acquisitions.
    const auto colon = owner.find(':');
    return std::string(colon == std::string::npos || colon < 4 ? owner : owner.substr(0, 4)) +
           std::string(colon == std::string::npos || colon < 4 ? "" : owner.substr(colon));
}

std::int64_t number(const message& said, std::size_t index)
{
    const std::string& text = said.nodes()[index + 1].value;
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// Where the words of a call are, as the store writes it. When the store writes it in another way,
/// nothing must be read past it in silence.
struct acquire_call
{
    static constexpr std::size_t name = 3;
    static constexpr std::size_t owner = 5;
    static constexpr std::size_t entry = 10;
    static constexpr std::size_t count = 12;
};

struct release_call
{
    static constexpr std::size_t name = 3;
    static constexpr std::size_t owner = 4;
    static constexpr std::size_t entry = 5;
    static constexpr std::size_t count = 7;
};

void check_words(words command, known_script called)
{
    const std::size_t wanted = called == known_script::acquire   ? acquire_call::count
                               : called == known_script::release ? release_call::count
                                                                 : command.size();
    if (command.size() != wanted)
        throw std::logic_error("a call of a script has " + std::to_string(command.size()) +
                               " words, and the simulated server knows it with " +
                               std::to_string(wanted));
}

bool is_one_of(std::string_view verb, std::initializer_list<std::string_view> all)
{
    return std::find(all.begin(), all.end(), verb) != all.end();
}

} // namespace

/// The server takes the next command.
class server_state::worker final : public alarm
{
public:
    explicit worker(server_state& of) noexcept : of_(of) {}

private:
    void ring() override { of_.work(); }

    server_state& of_;
};

server_state::server_state(scheduler& all, std::string called)
    : time(all),
      name(called.empty() ? "server" : std::move(called)),
      clock_of_it(all.time, std::chrono::seconds(1'700'000'000)),
      worker_(std::make_unique<worker>(*this))
{
    redis.publish = [this](std::string_view channel, std::string_view text) {
        std::int64_t receivers = 0;
        const message said = message::strings(message::type::push, {"message", channel, text});
        for (const session_ptr& each : sessions_) {
            if (std::find(each->channels.begin(), each->channels.end(), channel) ==
                each->channels.end())
                continue;
            ++receivers;
            each->publish(said);
        }
        return receivers;
    };
}

server_state::~server_state() = default;

std::int64_t server_state::time_us() const noexcept
{
    return std::chrono::floor<std::chrono::microseconds>(clock_of_it.now().time_since_epoch())
        .count();
}

void server_state::connect(const session_ptr& who)
{
    sessions_.push_back(who);
}

void server_state::disconnect(session& who)
{
    who.open = false;
    who.channels.clear();
    std::erase_if(sessions_, [&](const session_ptr& each) { return each.get() == &who; });
}

void server_state::arrive(const session_ptr& from, const segment_ptr& sent, std::size_t count)
{
    if (!accepts() || (from && !from->open))
        return;
    const bool free = queue_.empty() && time.now() >= std::max(stalled_until_, next_free_);
    queue_.push_back({from, sent, 0, count});
    if (queue_.size() != 1)
        return;
    if (free && each_takes_ == clock::duration::zero())
        return work();
    if (free)
        next_free_ = time.now() + each_takes_;
    time.arm(*worker_, std::max(stalled_until_, next_free_));
}

/// One after the other, in the order in which they came.
void server_state::work()
{
    while (!queue_.empty()) {
        if (time.now() < stalled_until_)
            return time.arm(*worker_, stalled_until_);
        // What it runs may end the server.
        const std::uint64_t life = life_;
        waiting next = queue_.front();
        const bool pause = run_some(next);
        if (life != life_)
            return;
        if (next.next == next.end)
            queue_.pop_front();
        else
            queue_.front().next = next.next;
        if (!pause)
            continue;
        next_free_ = time.now() + std::max(each_takes_, least);
        if (!queue_.empty())
            time.arm(*worker_, next_free_);
        return;
    }
}

/// Runs commands of one client until one has taken its time; true then.
bool server_state::run_some(waiting& from)
{
    std::vector<message> said;
    if (from.from)
        said.reserve(from.end - from.next);
    bool pause = false;
    const std::uint64_t life = life_;
    while (!pause && from.next < from.end && life == life_) {
        const std::size_t index = from.next++;
        pause = from.what->script(index).has_value();
        if (from.from)
            said.push_back(run(from.from.get(), *from.what, index));
        else if (pause && index >= from.what->answered)
            run(nullptr, *from.what, index);
    }
    if (from.from && from.from->open)
        from.from->answer(std::move(said));
    return pause;
}

/// Works on at the new speed.
void server_state::speed(clock::duration each)
{
    each_takes_ = each;
    next_free_ = std::min(next_free_, time.now() + std::max(each, least));
    if (!queue_.empty())
        time.arm(*worker_, std::max(stalled_until_, next_free_));
}

void server_state::stall(clock::duration how_long)
{
    stalled_until_ = std::max(stalled_until_, time.now() + how_long);
}

void server_state::refuse(server::trouble why, clock::duration how_long)
{
    if (why == server::trouble::read_only)
        for (const session_ptr& each : sessions_)
            each->demoted = true;
    clock::time_point& until = troubles_[static_cast<std::size_t>(why)];
    until = std::max(until, time.now() + how_long);
    troubled_until_ = std::max(troubled_until_, until);
}

void server_state::go_down(clock::duration how_long)
{
    down_until = std::max(down_until, time.now() + how_long);
    ++life_;
    queue_.clear();
    worker_->disarm();
    next_free_ = {};
    stalled_until_ = {};
    redis.forget_scripts();
    for (const session_ptr& each : std::exchange(sessions_, {})) {
        each->open = false;
        each->channels.clear();
        each->on_server_end();
    }
}

/// The data as it was that long ago.
std::size_t server_state::lose(clock::duration latest)
{
    return redis.data.lose_since(time.now() - latest);
}

std::size_t server_state::flush_all()
{
    refresh();
    return redis.data.flush_all();
}

void server_state::forget_scripts(clock::duration how_long)
{
    redis.forget_scripts();
    forgets_until_ = std::max(forgets_until_, time.now() + how_long);
}

void server_state::fail_renewals(std::string_view n, clock::duration how_long)
{
    no_renewals_.emplace_back(n, time.now() + how_long);
}

message server_state::run(session* from, const segment& sent, std::size_t index)
{
    ++commands;
    const words command = sent.command(index);
    if (const auto called = sent.script(index))
        check_words(command, *called);
    if (const char* const refused = refusal(command)) {
        const message said = message::error(refused);
        if (const auto called = sent.script(index))
            follow(from, command, *called, said);
        return said;
    }
    if (is_one_of(command[0], {"SUBSCRIBE", "UNSUBSCRIBE"}))
        return subscribe(from, command);
    if (sent.script(index))
        return run_script(from, sent, index);
    return redis.execute(command, time_us(), time.now());
}

message server_state::run_script(session* from, const segment& sent, std::size_t index)
{
    const words command = sent.command(index);
    const known_script called = *sent.script(index);
    redis.read_only = is_in(server::trouble::read_only) && from != nullptr && from->demoted;
    redis.out_of_memory = is_in(server::trouble::out_of_memory);
    redis.cannot_save = is_in(server::trouble::cannot_save);
    redis.unrenewable.clear();
    for (const auto& [of, until] : no_renewals_)
        if (time.now() < until)
            redis.unrenewable.push_back(of);
    refresh();
    const bool acquires = called == known_script::acquire;
    const bool takes = acquires && command[acquire_call::entry].empty();
    bool repeated = false;
    if (acquires) {
        std::string field(command[acquire_call::owner]);
        if (!takes)
            field.append("/").append(command[acquire_call::entry]);
        try {
            repeated = redis.data.hget(command[acquire_call::name], field) != nullptr;
        }
        catch (const command_error&) {
        }
    }
    const message said = redis.execute(command, time_us(), time.now());
    if (time.now() < forgets_until_)
        redis.forget_scripts();
    follow(from, command, called, said);
    if (said.is_error() || number(said, 0) != 1)
        return said;
    if (takes) {
        time.witness(static_cast<std::uint64_t>(number(said, 1)));
        if (on_grant)
            on_grant({command[acquire_call::name], command[acquire_call::owner],
                      static_cast<std::uint64_t>(number(said, 1)),
                      static_cast<std::uint32_t>(number(said, 2)), repeated,
                      time.now() - sent.sent});
    }
    if (acquires && from == nullptr && !repeated && on_stranded)
        on_stranded(command[acquire_call::name], command[acquire_call::owner]);
    if (called == known_script::release && on_free)
        on_free(command[release_call::name]);
    return said;
}

/// A call of a script has been answered.
void server_state::follow(session* from, words command, known_script called, const message& said)
{
    time.witness(static_cast<std::uint64_t>(called) << 32 |
                 static_cast<std::uint64_t>(said.size()) << 8 | (said.is_error() ? 1 : 0));
    if (time.traced())
        describe(from, command, called, said);
    const bool denied = said.is_error() && said.nodes().front().value.starts_with("NOPERM");
    if (called == known_script::release && denied && on_stranded)
        on_stranded(command[release_call::name], command[release_call::owner]);
    if (from != nullptr)
        from->told(ran_step(called));
}

message server_state::subscribe(session* from, words command)
{
    const std::string verb(command[0]);
    if (std::find(redis.denied.begin(), redis.denied.end(), verb) != redis.denied.end())
        return message::error("NOPERM No permissions to access a channel used as argument");
    const bool begins = verb == "SUBSCRIBE";
    if (from != nullptr && from->open) {
        const auto found = std::find(from->channels.begin(), from->channels.end(), command[1]);
        if (begins && found == from->channels.end())
            from->channels.emplace_back(command[1]);
        else if (!begins && found != from->channels.end())
            from->channels.erase(found);
    }
    if (time.traced())
        line(std::string(begins ? "watch " : "unwatch ") + std::string(command[1]));
    const std::string count = std::to_string(from == nullptr ? 0 : from->channels.size());
    return message::strings(message::type::push,
                            {begins ? "subscribe" : "unsubscribe", command[1], count});
}

/// What it says to a command that it does not look at.
const char* server_state::refusal(words command) const noexcept
{
    const std::string_view verb = command[0];
    if (time.now() >= troubled_until_ || is_one_of(verb, {"HELLO", "SELECT"}))
        return nullptr;
    using trouble = server::trouble;
    if (is_in(trouble::busy))
        return "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN "
               "NOSAVE.";
    const bool needs_no_data = is_one_of(verb, {"TIME", "SUBSCRIBE", "UNSUBSCRIBE"});
    if (is_in(trouble::loading) && !needs_no_data)
        return "LOADING Redis is loading the dataset in memory";
    if (is_in(trouble::master_down) && !needs_no_data && !is_one_of(verb, {"PING", "SCRIPT"}))
        return "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
    if (is_in(trouble::no_permission) && verb != "PING")
        return "NOPERM User default has no permissions to run this command";
    if (is_in(trouble::cluster_down) && script_of(command))
        return "CLUSTERDOWN The cluster is down";
    if (is_in(trouble::cannot_save) && verb == "PING")
        return "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to "
               "persist to disk.";
    return nullptr;
}

void server_state::refresh()
{
    redis.data.at(time_us() / 1000, time.now());
}

bool server_state::erase(std::string_view n)
{
    refresh();
    return redis.data.del(n);
}

bool server_state::overwrite(std::string_view n)
{
    const bool was_there = erase(n);
    redis.data.set(n, "not a lock", 0);
    return was_there;
}

bool server_state::seize(std::string_view n, std::chrono::milliseconds how_long)
{
    const bool was_there = erase(n);
    const std::string who = "foreigner:" + std::to_string(++foreigners_);
    redis.data.hset(n, who, "1");
    redis.data.pexpire(n, how_long.count());
    return was_there;
}

std::string server_state::holder(std::string_view n)
{
    refresh();
    try {
        // The fields of entries have a slash in them.
        if (const keyspace::fields* const all = redis.data.hgetall(n))
            for (const auto& [field, count] : *all)
                if (field.find('/') == std::string::npos)
                    return field;
    }
    catch (const command_error&) {
    }
    return {};
}

std::size_t server_state::locks()
{
    refresh();
    return redis.data.hashes();
}

std::size_t server_state::subscriptions() const noexcept
{
    std::size_t all = 0;
    for (const session_ptr& each : sessions_)
        all += each->channels.size();
    return all;
}

void server_state::describe(const session* from, words command, known_script called,
                            const message& said)
{
    std::string text;
    const auto who = [&] {
        text += " as " + short_id(command[called == known_script::acquire ? acquire_call::owner
                                                                          : release_call::owner]);
    };
    switch (called) {
    case known_script::acquire:
        text = command[acquire_call::entry].empty() ? "acquire " : "enter ";
        break;
    case known_script::renew: text = "renew "; break;
    default: text = command[release_call::entry].empty() ? "release " : "leave "; break;
    }
    text += command[3];
    text += from == nullptr ? " once more" : " for " + from->client();
    if (called != known_script::renew)
        who();
    text += " -> ";
    if (said.is_error()) {
        text += said.nodes().front().value;
    }
    else if (called == known_script::renew) {
        for (std::size_t i = 0; i + 1 < said.size(); ++i)
            text += number(said, i) == 1 ? "renewed " : "GONE ";
    }
    else if (called == known_script::release) {
        text += number(said, 0) == 1 ? "freed" : number(said, 0) == 2 ? "left" : "not owner";
    }
    else {
        switch (number(said, 0)) {
        case 1:
            text += command[acquire_call::entry].empty()
                        ? "GRANTED fence " + std::to_string(number(said, 1) % 1'000'000'000)
                        : "entered";
            break;
        case 0: text += "held for " + std::to_string(number(said, 1)) + " ms"; break;
        case -1: text += "too late"; break;
        default: text += "gone"; break;
        }
    }
    line(text);
}

} // namespace leasehold::testing::impl
