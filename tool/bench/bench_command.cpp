#include "bench_command.hpp"

#include "../exit_code.hpp"
#include "../message.hpp"
#include "../server/servers.hpp"
#include "../sql/database_url.hpp"
#include "../terminal.hpp"
#include "../url_option.hpp"
#include "../values.hpp"
#include "jobs.hpp"

#include "redis/commands/native_keys.hpp"
#include "redis/protocol/key_names.hpp"
#include "redis/redlock/member_names.hpp"

#include <leasehold/error.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold::tool {
namespace {

using namespace bench;
using std::chrono::milliseconds;

constexpr char about[] = R"(Measures locks on the server, or the servers, of a URL:
  - one lock after the other: the duration of an acquire, from the call to the
    lease, and of a release, from the call to its completion
  - many at a time: the rate, and the cost of each lock on the servers
  - two clients that share one lock: the duration of a handoff between them

It loads the server while it runs. All names begin with --prefix; their keys are
deleted at the end. The counter of the fencing tokens stays. In a database the
cost is not shown, and clients delete the rows after fence_retention.
)";

constexpr char notes[] =
    R"(Other load of the servers during the run counts as the cost of the locks.

Exit code:
  0    the measurements were made
  2    an argument is invalid
  70   the output cannot be written
  77   the store cannot be reached, or rejects a command
)";

std::size_t read_count(std::string_view text)
{
    std::size_t count = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (failed != std::errc() || end != text.data() + text.size() || count < 1 || count > 10'000)
        throw usage_error("is '" + std::string(text) + "'; it must be from 1 to 10000");
    return count;
}

/// Returns the number after "name:" in a reply of INFO.
double value_of(const std::string& info, const std::string& name)
{
    const std::size_t at = info.find("\n" + name + ":");
    return at == std::string::npos ? 0 : std::atof(info.c_str() + at + name.size() + 2);
}

std::optional<server_work> work_of(servers& all)
try {
    server_work sum;
    for (std::size_t place = 0; place < all.size(); ++place) {
        const resp_value info = all.connection(place).ask({"INFO"});
        if (info.is_error())
            return std::nullopt;
        sum.cpu_seconds += value_of(info.text, "used_cpu_user") +
                           value_of(info.text, "used_cpu_sys");
        sum.commands += static_cast<std::int64_t>(value_of(info.text, "total_commands_processed"));
    }
    return sum;
}
catch (const unreachable&) { // a member of a quorum that is down
    return std::nullopt;
}

/// The keys of the URL's layout for a name, including those that stay when it is not locked.
std::vector<std::string> keys_of(const redis_config& where, const std::string& name)
{
    const std::string lock = where.prefix + name;
    if (where.kind == redis_config::deployment::quorum) {
        const quorum::member_keys keys(where.prefix);
        return {lock, keys.fence(lock), keys.entries(lock)};
    }
    const redis_store::native_keys keys(where.prefix);
    std::vector<std::string> all(4);
    keys.queue(lock, all[0]);
    keys.waiters(lock, all[1]);
    if (where.layout == redis_config::key_layout::native)
        keys.entries(lock, all[2]);
    else
        redis_store::fence_key(lock, all[2]);
    all[3] = lock;
    return all;
}

/// @returns The error of the server, or an empty text.
std::string remove(servers& all, const std::vector<std::string>& names)
{
    std::string refusal;
    const auto look_at = [&refusal](const resp_value& answer) {
        if (answer.is_error())
            refusal = answer.text;
    };
    if (!all.is_quorum()) {
        std::vector<servers::keyed_command> commands;
        for (const std::string& name : names) {
            for (const std::string& key : keys_of(all.where(), name))
                commands.push_back({key, {"DEL", key}});
        }
        for (const resp_value& answer : all.ask_all(commands))
            look_at(answer);
        return refusal;
    }
    for (std::size_t place = 0; place < all.size(); ++place) {
        try {
            for (const std::string& name : names) {
                command_words words = keys_of(all.where(), name);
                words.insert(words.begin(), "DEL");
                look_at(all.connection(place).ask(words));
            }
        }
        catch (const unreachable& failed) {
            refusal = failed.what();
        }
    }
    return refusal;
}

class bench_command final : public command
{
public:
    bench_command() : command("bench [OPTION...]", about)
    {
        declare_url(options(), url_);
        options().value("--time", "TIME", "Duration of each measurement (3s).",
                        [this](std::string_view value) { time_ = read_duration(value); });
        options().value("--at-a-time", "COUNT", "Number of locks in the second measurement (100).",
                        [this](std::string_view value) { coroutines_ = read_count(value); });
        options().value("--prefix", "TEXT", "Prefix of all names (leasehold-bench:).",
                        [this](std::string_view value) { prefix_ = value; });
        options().flag("--json", "Print one JSON object.", json_);
        options().notes(notes);
    }

    int run(const command_line::words& given) override;

private:
    [[nodiscard]] jobs jobs_with(std::function<std::shared_ptr<store>()> make_store) const;
    int run_in_redis();
    int run_in_any_store();
    int measure(jobs& all, const std::function<std::optional<server_work>()>& work,
                const std::function<void()>& clean);

    std::string url_;
    milliseconds time_{3'000};
    std::size_t coroutines_ = 100;
    std::string prefix_ = "leasehold-bench:";
    bool json_ = false;
};

int bench_command::run(const command_line::words& given)
{
    if (!given.arguments.empty() || !given.command.empty())
        throw usage_error("only options are allowed as arguments");
    if (prefix_.empty())
        throw usage_error("--prefix is empty; it must be a text");
    const bool in_redis = !is_database(url_) && !is_zookeeper(url_) && !is_etcd(url_);
    return in_redis ? run_in_redis() : run_in_any_store();
}

jobs bench_command::jobs_with(std::function<std::shared_ptr<store>()> make_store) const
{
    std::random_device random;
    return jobs(
        {std::move(make_store), prefix_ + std::to_string(random()) + ':', time_, coroutines_});
}

int bench_command::run_in_redis()
{
    redis_config where = read_url(url_);
    where.client_info = false; // leaves nothing on the server
    jobs all = jobs_with([where] { return make_redis_store(where); });

    boost::asio::io_context context;
    servers used(context, where);
    // Connects at once, unless other members of a quorum can replace this one.
    if (!used.is_quorum())
        static_cast<void>(used.connection(0));
    return measure(
        all, [&used] { return work_of(used); },
        [&] {
            const std::string left = remove(used, all.names());
            if (!left.empty())
                say("keys with the prefix '" + prefix_ + "' may be left: " + left);
        });
}

/// Without the work of the servers. The store forgets the names itself, after a day.
int bench_command::run_in_any_store()
{
    jobs all = jobs_with([this] { return make_store(url_); });
    return measure(all, [] { return std::nullopt; }, [] {});
}

int bench_command::measure(jobs& all, const std::function<std::optional<server_work>()>& work,
                           const std::function<void()>& clean)
{
    measurements made;
    error_code failed;
    try {
        made = all.run(work);
    }
    catch (const boost::system::system_error& error) {
        say(error.what());
        failed = error.code();
    }
    clean();
    if (failed)
        return failed == condition::bad_request ? bad_arguments : store_unavailable;
    if (all.signal() != 0) {
        std::signal(all.signal(), SIG_DFL);
        std::raise(all.signal());
        return ended_by_signal + all.signal();
    }
    print(json_ ? as_json(made) : as_text(made));
    return success;
}

} // namespace

std::unique_ptr<command> make_bench_command()
{
    return std::make_unique<bench_command>();
}

} // namespace leasehold::tool
