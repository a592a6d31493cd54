#include "testing/server/server_state.hpp"

#include "redis/commands/native_keys.hpp"
#include "redis/protocol/key_names.hpp"
#include "redis/redlock/member_commands.hpp"
#include "testing/server/known_script.hpp"
#include "testing/server/queue_order.hpp"
#include "testing/server/verbs.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace leasehold::testing::impl {
namespace {

// A server runs no two scripts in one microsecond: the time distinguishes fences if the counters
// are lost.
constexpr clock::duration least = std::chrono::microseconds(2);

void check_form(const lock_request& request, words command)
{
    if (!request.as_known)
        throw std::logic_error("a call of a script has " + std::to_string(command.size()) +
                               " words, and the simulated server knows it with others");
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
        if (cluster != nullptr && redis.product == server::product::redis_6)
            throw command_error{"ERR Unknown Redis command called from script"};
        if (cluster != nullptr)
            cluster->spread(channel, text);
        return publish_here(channel, text);
    };
}

server_state::~server_state() = default;

std::int64_t server_state::time_us() const noexcept
{
    return std::chrono::floor<std::chrono::microseconds>(clock_of_it.now().time_since_epoch())
        .count();
}

void server_state::connect(const session_ptr& from)
{
    sessions_.push_back(from);
    from->id = ++connected_;
    // Numbers of connections start again with the server, addresses do not.
    from->address = "10.0.0.1:" + std::to_string(1024 + ++addresses_);
}

void server_state::disconnect(session& from)
{
    from.open = false;
    from.channels.clear();
    std::erase_if(sessions_, [&](const session_ptr& each) { return each.get() == &from; });
}

std::int64_t server_state::publish_here(std::string_view channel, std::string_view text)
{
    std::int64_t receivers = 0;
    const message push = message::strings(
        message::type::push, {cluster != nullptr ? "smessage" : "message", channel, text});
    for (const session_ptr& each : sessions_) {
        if (is_elsewhere(*each) || std::find(each->channels.begin(), each->channels.end(),
                                             channel) == each->channels.end())
            continue;
        ++receivers;
        each->publish(push);
    }
    return receivers;
}

void server_state::unsubscribe_all(const std::function<bool(std::string_view channel)>& gone)
{
    const auto all = sessions_; // a call may end one
    for (const session_ptr& each : all) {
        std::vector<message> pushes;
        std::erase_if(each->channels, [&](const std::string& channel) {
            if (!gone(channel))
                return false;
            pushes.push_back(message::strings(message::type::push, {"sunsubscribe", channel, "0"}));
            return true;
        });
        if (!pushes.empty())
            each->answer(std::move(pushes));
    }
}

void server_state::arrive(const session_ptr& from, const segment_ptr& sent, std::size_t count)
{
    if (!accepts() || (from && !from->open))
        return;
    const bool free = queue_.empty() && time.now() >= std::max(stalled_until_, next_free_);
    queue_.push_back({.from = from, .what = sent, .next = 0, .end = count});
    if (queue_.size() != 1)
        return;
    if (free && each_takes_ == clock::duration::zero())
        return work();
    if (free)
        next_free_ = time.now() + each_takes_;
    time.arm(*worker_, std::max(stalled_until_, next_free_));
}

/// One after the other, in the order of arrival.
void server_state::work()
{
    while (!queue_.empty()) {
        if (time.now() < stalled_until_)
            return time.arm(*worker_, stalled_until_);
        // A command may end the server.
        const std::uint64_t life = life_;
        waiting next = queue_.front();
        if (next.from && next.from->killed) {
            queue_.pop_front();
            continue;
        }
        const bool pause = run_some(next);
        if (life != life_)
            return;
        if (next.next == next.end)
            queue_.pop_front();
        else
            queue_.front() = next;
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
    std::vector<message> replies;
    if (from.from)
        replies.reserve(from.end - from.next);
    bool pause = false;
    const std::uint64_t life = life_;
    while (!pause && from.next < from.end && life == life_) {
        const std::size_t index = from.next++;
        pause = from.what->takes_time(index);
        if (from.from)
            replies.push_back(run(from, index));
        else if (pause && index >= from.what->answered)
            run(from, index);
    }
    if (from.from && from.from->open)
        from.from->answer(std::move(replies));
    return pause;
}

/// Continues at the new speed.
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

void server_state::go_down(clock::duration how_long, bool silently)
{
    silent_ = silently;
    down_until = std::max(down_until, time.now() + how_long);
    ++life_;
    queue_.clear();
    worker_->disarm();
    next_free_ = {};
    stalled_until_ = {};
    connected_ = 0;
    latest_of_.clear();
    redis.forget_scripts();
    redis.run_id = std::to_string(life_ + 1);
    for (const session_ptr& each : std::exchange(sessions_, {})) {
        each->open = false;
        each->channels.clear();
        each->on_server_end();
    }
}

/// Restores the data of that time ago.
std::size_t server_state::lose(clock::duration latest, std::vector<std::string>* keys)
{
    return redis.data.lose_since(std::max(time.now() - latest, replicated_), keys);
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

message server_state::run(waiting& by, std::size_t index)
{
    ++commands;
    const words command = by.what->command(index);
    const lock_request* const request = by.what->request(index);
    if (request != nullptr)
        check_form(*request, command);
    const bool asking = std::exchange(by.asking, false);
    const auto refused = refusal(command, asking);
    if (cluster != nullptr && request != nullptr && by.from)
        cluster->follow(*request, !refused);
    if (refused) {
        const message rejection = message::error(*refused);
        if (request != nullptr)
            follow(by.from.get(), *request, command, rejection);
        return rejection;
    }
    if (is_subscription(command[0]))
        return subscribe(by.from.get(), command);
    if (cluster != nullptr && command[0] == "ASKING") {
        by.asking = true;
        return message::status("OK");
    }
    if (cluster != nullptr && command[0] == "CLUSTER" && !redis.is_denied("cluster"))
        return cluster->answer(command, by.from ? by.from->client() : std::string_view());
    if (command[0] == "CLIENT")
        return client_command(by.from.get(), command);
    if (command[0] == "WAIT")
        return wait(by.from.get(), command);
    redis.read_only = is_in(server::trouble::read_only) && by.from && by.from->demoted;
    redis.out_of_memory = is_in(server::trouble::out_of_memory);
    redis.cannot_save = is_in(server::trouble::cannot_save);
    refresh();
    const std::uint64_t changes = redis.data.changes();
    const auto changed = [&] {
        if (by.from && redis.data.changes() != changes)
            by.from->written = time.now();
    };
    const message reply = request != nullptr ? run_request(by, *request, index)
                                             : redis.execute(command, time_us(), time.now());
    changed();
    if (on_alive)
        if (const auto client = client_shown_alive(command, reply); !client.empty())
            on_alive(client);
    if (request != nullptr)
        return reply;
    if (time.traced() && by.from)
        if (const auto text = describe_record(command, " for " + by.from->client(), reply);
            !text.empty())
            line(text);
    if (const std::uint32_t fences = fences_drawn_by(command); fences != 0)
        notify_grants(by, index, fences, reply);
    return reply;
}

message server_state::run_request(waiting& by, const lock_request& request, std::size_t index)
{
    redis.unrenewable.clear();
    for (const auto& [of, until] : no_renewals_)
        if (time.now() < until)
            redis.unrenewable.push_back(of);
    const bool acquires = request.what == lock_request::kind::acquire;
    const bool repeated = acquires && is_in_already(request);
    const bool renews_again = !by.from && request.of_member &&
                              request.what == lock_request::kind::renew;
    const auto missing = renews_again ? missing_of(by.what->command(index))
                                      : std::vector<lock_request>();
    const bool all_here = cluster == nullptr || !cluster->is_moving(request.name);
    const bool orders = !request.of_member && request.what != lock_request::kind::renew &&
                        all_here && !request.group; // frees only locks without waiters
    const auto before = orders ? std::optional<queue_order>(std::in_place, redis.data, request.name,
                                                            time_us(), cluster != nullptr,
                                                            [this](std::string_view channel) {
                                                                return listeners(channel) != 0;
                                                            })
                               : std::nullopt;
    const message reply = redis.execute(by.what->command(index), time_us(), time.now());
    if (before) {
        if (const auto overtaking = before->overtaking_owner(request); overtaking && on_overtaken)
            on_overtaken(request.name, overtaking->owner,
                         overtaking->of_a_present_waiter && !request.plain);
        if (const auto unnotified = before->granted_unnotified(request);
            unnotified && on_unnotified_grant)
            on_unnotified_grant(request.name, *unnotified);
    }
    if (!request.plain && time.now() < forgets_until_)
        redis.forget_scripts();
    follow(by.from.get(), request, by.what->command(index), reply);
    const lock_effect effect = effect_of(request, reply);
    if (by.from && on_answered)
        on_answered(request, effect);
    // A counter that has to start at the clock would be behind it.
    const auto clock = 2 * static_cast<std::uint64_t>(time_us());
    if (!request.of_member && effect.fences > 1 && effect.first_fence + effect.fences - 1 > clock)
        throw std::logic_error("fence: a block reaches beyond the server's clock");
    if (effect.taken && request.plain)
        by.took.emplace_back(index, time.now());
    else if (effect.taken)
        notify_grant(by, request, effect, repeated, time.now());
    const bool got_in = effect.taken || effect.reentered;
    if (acquires && got_in && !by.from && !repeated && on_orphaned)
        on_orphaned(request.name, request.owner);
    for (const lock_request& each : missing)
        if (on_orphaned && is_in_now(each))
            on_orphaned(each.name, each.owner);
    const bool read_only = redis.read_only && reply.is_error() &&
                           reply.nodes().front().value.starts_with("READONLY");
    if (read_only && !std::exchange(by.from->knows_demotion, true) && on_read_only)
        on_read_only(request.name);
    if (effect.left && on_free)
        on_free(request.name);
    if (request.group && on_free && !reply.is_error()) {
        const std::vector<lock_request> all = releases_of(by.what->command(index));
        for (std::size_t i = 0; i < all.size(); ++i)
            if (is_freed(request, reply, i))
                on_free(all[i].name);
    }
    return reply;
}

/// The locks and entries of a renewal that a member of a quorum does not have.
std::vector<lock_request> server_state::missing_of(words command)
{
    std::vector<lock_request> all;
    // Each lock has two keys, and behind the keys and a limit: owner, lease, entry, create.
    const std::size_t locks = (command.size() - 4) / 6;
    for (std::size_t i = 0; i < locks; ++i) {
        lock_request each{.of_member = true, .name = command[3 + 2 * i]};
        each.owner = command[4 + 2 * locks + 4 * i];
        each.owner.remove_prefix(quorum::mark.size());
        each.entry = command[6 + 2 * locks + 4 * i];
        if (!is_in_now(each))
            all.push_back(each);
    }
    return all;
}

bool server_state::is_in_now(const lock_request& at_member)
{
    return is_in_already(at_member) && (!at_member.entry.empty() || first_is_in(at_member.name));
}

/// The owner, or the entry, has it before the request.
bool server_state::is_in_already(const lock_request& request)
{
    try {
        if (request.of_member)
            return holder(request.name) == request.owner &&
                   (request.entry.empty() ||
                    redis.data.hget(quorum::member_keys().entries(request.name),
                                    "e:" + std::string(request.entry)) != nullptr);
        if (request.layout == redis_config::key_layout::redisson) {
            std::string field(request.owner);
            if (!request.entry.empty())
                field.append("/").append(request.entry);
            return redis.data.hget(request.name, field) != nullptr;
        }
        if (holder(request.name) != request.owner)
            return false;
        std::string key;
        redis_store::native_keys().entries(request.name, key);
        return request.entry.empty() || redis.data.hget(key, request.entry) != nullptr;
    }
    catch (const command_error&) {
        return false;
    }
}

void server_state::notify_grant(const waiting& by, const lock_request& request,
                                const lock_effect& effect, bool repeated, clock::time_point when)
{
    time.witness(effect.first_fence);
    if (!on_grant)
        return;
    on_grant({request.name, effect.owner, effect.first_fence, effect.fences, when, repeated,
              request.plain, is_left_behind(by, request),
              request.limited || request.layout == redis_config::key_layout::redisson
                  ? time.now() - by.what->sent
                  : clock::duration::zero()});
}

/// Fences were drawn for the locks that were taken before, the same for all that wanted some.
void server_state::notify_grants(waiting& by, std::size_t drawing, std::uint32_t fences,
                                 const message& reply)
{
    const auto took = std::exchange(by.took, {});
    if (took.empty() || reply.is_error())
        return;
    const auto last = std::stoull(reply.nodes().front().value);
    std::vector<std::size_t> shared; // also acquires that did not get the lock
    for (std::size_t i = drawing; i-- > 0 && fences_drawn_by(by.what->command(i)) == 0;)
        if (const lock_request* const request = by.what->request(i);
            request != nullptr && request->plain && request->what == lock_request::kind::acquire)
            shared.push_back(i);
    for (const auto& [index, when] : took) {
        const auto found = std::find(shared.begin(), shared.end(), index);
        if (found == shared.end())
            continue;
        const auto each = static_cast<std::uint32_t>(fences / shared.size());
        const auto behind = static_cast<std::uint64_t>(found - shared.begin());
        const lock_request& taken = *by.what->request(index);
        notify_grant(by, taken,
                     {true, taken.owner, last - behind * each - each + 1, each, false, false},
                     false, when);
    }
}

/// Whether the client has sent a request over a newer connection before.
bool server_state::is_left_behind(const waiting& by, const lock_request& request)
{
    if (!by.from || request.layout != redis_config::key_layout::native)
        return false;
    const std::string_view client = redis_store::native::client_of(request.owner);
    const auto found = latest_of_.find(client);
    return found != latest_of_.end() && by.from->id < found->second;
}

/// A request has been answered.
void server_state::follow(session* from, const lock_request& request, words command,
                          const message& reply)
{
    time.witness(static_cast<std::uint64_t>(request.what) << 32 |
                 static_cast<std::uint64_t>(reply.size()) << 8 | (reply.is_error() ? 1 : 0));
    if (time.traced())
        line(describe(request, from == nullptr ? " once more" : " for " + from->client(), reply));
    const bool denied = reply.is_error() && reply.nodes().front().value.starts_with("NOPERM");
    if (request.what == lock_request::kind::release && denied && on_orphaned) {
        for (const lock_request& each :
             request.group ? releases_of(command) : std::vector<lock_request>{request})
            on_orphaned(each.name, each.owner);
    }
    if (from == nullptr)
        return;
    // A reentrant acquisition may have another client's owner.
    if (request.what != lock_request::kind::renew && request.entry.empty()) {
        std::int64_t& latest =
            latest_of_[std::string(redis_store::native::client_of(request.owner))];
        latest = std::max(latest, from->id);
    }
    from->report(ran_step(request.what));
}

message server_state::client_command(session* from, words command)
{
    if (redis.is_denied("client"))
        return message::error("NOPERM User default has no permissions to run the 'client' command");
    if (from != nullptr && command.size() == 2 && command[1] == "INFO")
        return message::blob("id=" + std::to_string(from->id) + " addr=" + from->address +
                             " laddr=10.0.0.99:6379 fd=8 name= db=0 resp=3");
    if (command.size() != 6 || command[1] != "KILL" || command[2] != "ID" || command[4] != "ADDR")
        return message::error("ERR syntax error");
    std::int64_t killed = 0;
    const auto all = sessions_;
    for (const session_ptr& each : all) {
        if (each.get() == from || std::to_string(each->id) != command[3] ||
            each->address != command[5])
            continue;
        ++killed;
        line("KILLS a connection of " + each->client());
        each->killed = true;
        disconnect(*each);
        each->on_server_end();
    }
    return message::number(killed);
}

message server_state::subscribe(session* from, words command)
{
    const std::string verb(command[0]);
    if (std::find(redis.denied.begin(), redis.denied.end(), verb) != redis.denied.end())
        return message::error("NOPERM No permissions to access a channel used as argument");
    const bool of_shard = is_shard_subscription(verb);
    if (of_shard && (cluster == nullptr || redis.product == server::product::redis_6))
        return message::error("ERR unknown command '" + verb + "'");
    const bool begins = verb == "SUBSCRIBE" || verb == "SSUBSCRIBE";
    if (!begins && redis.product == server::product::valkey_8 && from != nullptr &&
        from->channels.empty())
        return message::error("NOSUB '" + verb + "' command executed not in subscribed mode");
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
    const char* const kind = of_shard ? begins ? "ssubscribe" : "sunsubscribe"
                             : begins ? "subscribe"
                                      : "unsubscribe";
    return message::strings(message::type::push, {kind, command[1], count});
}

/// The replicas catch up with the writes of this connection, and no time passes.
message server_state::wait(const session* from, words command)
{
    if (redis.is_denied("wait"))
        return message::error("NOPERM User default has no permissions to run the 'wait' command");
    if (command.size() != 3)
        return message::error("ERR wrong number of arguments for 'wait' command");
    if (from == nullptr || replicas == 0)
        return message::number(0);
    if (is_in(server::trouble::read_only) && from->demoted)
        return message::error("ERR WAIT cannot be used with replica instances.");
    replicated_ = std::max(replicated_, from->written);
    return message::number(replicas);
}

/// The error for a command that it does not run.
std::optional<std::string> server_state::refusal(words command, bool asking)
{
    if (const char* const text = complaint(command))
        return text;
    return cluster == nullptr ? std::nullopt : cluster->refusal(command, asking);
}

/// The error for a command that it does not read.
const char* server_state::complaint(words command) const noexcept
{
    const std::string_view verb = command[0];
    if (time.now() >= troubled_until_ || is_one_of(verb, {"HELLO", "SELECT"}))
        return nullptr;
    using trouble = server::trouble;
    if (is_in(trouble::busy))
        return "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN "
               "NOSAVE.";
    const bool needs_no_data = is_subscription(verb) ||
                               is_one_of(verb, {"TIME", "CLIENT", "CLUSTER", "ASKING"});
    if (is_in(trouble::loading) && !needs_no_data)
        return "LOADING Redis is loading the dataset in memory";
    if (is_in(trouble::master_down) && !needs_no_data && !is_one_of(verb, {"PING", "SCRIPT"}))
        return "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
    if (is_in(trouble::no_permission) && verb != "PING")
        return "NOPERM User default has no permissions to run this command";
    if (is_in(trouble::cluster_down) &&
        (script_of(command) || is_one_of(verb, {"SET", "INCRBY", "DELIFEQ", "DELEX"})))
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
    if (layout == redis_config::key_layout::native)
        redis.data.rpush(n, "not a lock");
    else
        redis.data.set(n, "not a lock", 0);
    return was_there;
}

bool server_state::seize(std::string_view n, std::chrono::milliseconds how_long)
{
    const bool was_there = erase(n);
    const std::string owner = "external:" + std::to_string(++external_owners_);
    if (layout == redis_config::key_layout::native) {
        redis.data.set(n, owner, how_long.count());
    }
    else {
        redis.data.hset(n, owner, "1");
        redis.data.pexpire(n, how_long.count());
    }
    return was_there;
}

std::string server_state::acquire_externally(std::string_view n, std::chrono::milliseconds lease)
{
    refresh();
    if (!accepts() || time.now() < std::max(stalled_until_, troubled_until_) ||
        redis.data.type(n) != std::string_view("none"))
        return {};
    std::string value = "external:" + std::to_string(++external_owners_);
    if (layout == redis_config::key_layout::native) {
        redis.data.set(n, value, lease.count());
    }
    else {
        redis.data.hset(n, value, "1");
        redis.data.pexpire(n, lease.count());
    }
    line("TAKEN by an external client: " + std::string(n));
    return value;
}

bool server_state::release_externally(std::string_view n, std::string_view value)
{
    refresh();
    if (!accepts() || holder(n) != value)
        return false;
    line("LEFT by an external client: " + std::string(n));
    redis.data.del(n);
    if (layout == redis_config::key_layout::redisson) {
        std::string channel;
        redis_store::release_channel(n, channel);
        publish_here(channel, "0");
    }
    return true;
}

bool server_state::is_member()
{
    refresh();
    const std::string* const run = redis.data.hget(quorum::member_keys().record(), "run");
    if (!accepts() || run == nullptr || *run != redis.run_id)
        return false;
    const std::string* const until = redis.data.hget(quorum::member_keys().record(), "until");
    return until != nullptr && std::stoll(*until) * 1000 <= time_us();
}

bool server_state::first_is_in(std::string_view n)
{
    const std::string owner = holder(n);
    if (owner.empty())
        return false;
    const std::string entries = quorum::member_keys().entries(n);
    const std::string* const whose = redis.data.hget(entries, "owner");
    return whose == nullptr || *whose != std::string(quorum::mark) + owner ||
           redis.data.hget(entries, "e:") != nullptr;
}

std::string server_state::holder(std::string_view n)
{
    refresh();
    const std::string_view type = redis.data.type(n);
    if (type == "string") {
        const std::string& value = *redis.data.get(n);
        if (value.starts_with(quorum::mark))
            return value.substr(quorum::mark.size());
        const std::string_view owner = redis_store::native::owner_of(value);
        return owner.empty() && layout == redis_config::key_layout::native ? value
                                                                           : std::string(owner);
    }
    if (type == "hash")
        // The fields of entries contain a slash.
        for (const auto& [field, count] : *redis.data.hgetall(n))
            if (field.find('/') == std::string::npos)
                return field;
    return {};
}

std::chrono::milliseconds server_state::promise_of(std::string_view n)
{
    refresh();
    if (redis.data.type(n) != std::string_view("string"))
        return {};
    const std::string& value = *redis.data.get(n);
    const std::size_t flags = value.find('|');
    const std::size_t grace = flags == std::string::npos ? flags : value.find('g', flags);
    if (grace == std::string::npos || redis_store::native::owner_of(value).empty())
        return {};
    return std::chrono::milliseconds(std::stoll(value.substr(grace + 1)));
}

std::size_t server_state::locks()
{
    refresh();
    std::size_t all = 0;
    redis.data.for_each([&](std::string_view key, keyspace::kind type, std::string_view text) {
        if (type == keyspace::kind::hash)
            all += key.starts_with("leasehold:") ? 0 : 1;
        else if (type == keyspace::kind::string)
            all += redis_store::native::owner_of(text).empty() && !text.starts_with(quorum::mark)
                       ? 0
                       : 1;
    });
    return all;
}

std::vector<std::string> server_state::queue_of(std::string_view n)
{
    refresh();
    std::string key;
    redis_store::native_keys().queue(n, key);
    std::vector<std::string> owners;
    if (const keyspace::items* const all = redis.data.list(key))
        for (const std::string& each : *all)
            owners.emplace_back(redis_store::native::owner_of(each));
    return owners;
}

std::size_t server_state::listeners(std::string_view channel) const
{
    return static_cast<std::size_t>(
        std::count_if(sessions_.begin(), sessions_.end(), [&](const session_ptr& each) {
            const auto& all = each->channels;
            return !is_elsewhere(*each) && std::find(all.begin(), all.end(), channel) != all.end();
        }));
}

std::string server_state::false_grant(std::string_view n, std::string_view client)
{
    std::string owner(client);
    owner += ":1";
    for (const std::string& each : queue_of(n))
        if (redis_store::native::client_of(each) == client)
            owner = each;
    std::string text;
    redis_store::native::value_of(owner, text);
    return text.append(" ").append(n);
}

std::size_t server_state::subscriptions() const noexcept
{
    std::size_t all = 0;
    for (const session_ptr& each : sessions_)
        all += each->channels.size();
    return all;
}

} // namespace leasehold::testing::impl
