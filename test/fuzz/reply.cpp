// The first line is a script of requests, the rest is sent by the server:
//   a  acquire a lock      e  acquire it again
//   l  release it          m  release an entry
//   r  renew one lock      s  renew three         t  renew sixty, in two commands
//   .  wait for the replies; then continue, on a new connection if the old one was closed
//   p  each connection begins with the questions of a real one; their replies come first
//   c  close the store after the first reply
//   1 to 9  the server's bytes arrive in pieces of this size, not in lines
#include "fuzz/server_stream.hpp"
#include "fuzz/targets.hpp"

#include "core/async/context_poster.hpp"
#include "redis/commands/redisson_commands.hpp"
#include "redis/connection/readiness_check.hpp"
#include "redis/pipeline/batch.hpp"
#include "redis/pipeline/pipeline.hpp"
#include "redis/pipeline/transport.hpp"
#include "support/resp.hpp"

#include <leasehold/store.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::fuzz {
namespace {

using namespace std::chrono_literals;
using boost::redis::resp3::type;
using redis_store::batch;
using granted_t = acquire_reply::outcome;
using released_t = release_reply::outcome;

// The numbers in the reply of a script: one level, exactly this many, all whole.
std::optional<std::vector<std::int64_t>> numbers(const message& said, std::size_t count)
{
    if (said.size() != count + 1 || said[0].data_type != type::array || said[0].depth != 0 ||
        said[0].aggregate_size != count)
        return std::nullopt;
    std::vector<std::int64_t> result;
    for (std::size_t i = 1; i <= count; ++i) {
        const auto& node = said[i];
        std::int64_t value = 0;
        const char* const end = node.value.data() + node.value.size();
        const auto [last, failed] = std::from_chars(node.value.data(), end, value);
        if (node.depth != 1 ||
            (node.data_type != type::number && node.data_type != type::blob_string) ||
            failed != std::errc() || last != end)
            return std::nullopt;
        result.push_back(value);
    }
    return result;
}

std::optional<std::int64_t> number(const message& said)
{
    if (said.size() != 1 || said[0].data_type != type::number || said[0].depth != 0)
        return std::nullopt;
    std::int64_t value = 0;
    const char* const end = said[0].value.data() + said[0].value.size();
    const auto [last, failed] = std::from_chars(said[0].value.data(), end, value);
    return failed == std::errc() && last == end ? std::optional(value) : std::nullopt;
}

bool is_error(const message& said)
{
    return said.size() == 1 &&
           (said[0].data_type == type::simple_error || said[0].data_type == type::blob_error);
}

// Microseconds since 1970, until the year 2255.
bool is_time(std::int64_t us)
{
    return us > 0 && us < (std::int64_t(1) << 53);
}

struct request
{
    char kind = 0;
    std::size_t size = 1; ///< For a renewal.
    int calls = 0;
    error_code failed;
    acquire_reply acquired;
    release_reply released;
    std::vector<renewal_result> renewed;
    bool slow_path = false; ///< The last script that was sent is the one with the queue.
    /// The last reply to each of its commands, by the first lock in the command.
    std::map<std::size_t, message> answers;
};

constexpr std::uint32_t fences_asked = 100;
constexpr std::size_t renewals_in_a_command = 50;
constexpr std::string_view keys_of_a_queue = "4"; ///< The lock, its fences, the queue, the waiters.

class session final : public redis_store::transport, public store_listener
{
public:
    session(asio::io_context& context, std::string_view script, std::string_view bytes)
        : context_(context),
          script_(script.substr(0, 64)),
          bytes_(bytes),
          probes_(script_.find('p') != std::string::npos),
          closes_(script_.find('c') != std::string::npos)
    {
        if (const std::size_t digit = script_.find_first_of("123456789");
            digit != std::string::npos)
            piece_ = static_cast<std::size_t>(script_[digit] - '0');
    }

    void run(const std::shared_ptr<session>& self)
    {
        const asio::any_io_executor strand = asio::make_strand(context_);
        pipeline_ = std::make_shared<redis_store::pipeline>(
            self, std::make_unique<redis_store::redisson_commands>(24h),
            leasehold::detail::make_system_time(), 5s);
        pipeline_->open(strand, detail::context_poster::make(strand), *this);
        std::string_view rest = script_;
        while (!rest.empty()) {
            const std::string_view group = rest.substr(0, rest.find('.'));
            rest.remove_prefix(std::min(group.size() + 1, rest.size()));
            if (!connected_)
                connect();
            for (const char c : group)
                ask(c);
            poll();
            while (connected_ && !queue_.empty() && receive()) {
            }
            if (!queue_.empty())
                lose();
        }
        pipeline_->close();
        poll();
        lose();
        strand_ = {};
        for (const auto& [number, each] : requests_)
            check(*each);
        pipeline_.reset();
    }

private:
    // The number of values in the replies of the scripts.
    static constexpr std::size_t acquired_short = 4;
    static constexpr std::size_t acquired_queued = 5;
    static constexpr std::size_t left_queue = 6;

    /// The reply of a script: a list of this many numbers, a number, or either.
    struct shape
    {
        std::size_t count; ///< 0: no list.
        bool single;

        [[nodiscard]] bool fits(const message& said) const
        {
            return (single && number(said)) || (count != 0 && numbers(said, count));
        }
    };

    struct sent_batch
    {
        std::shared_ptr<batch> what;
        boost::redis::any_adapter adapter;
        std::vector<std::pair<request*, std::size_t>> commands;
        std::vector<shape> expected;
        std::size_t answered = 0;
    };

    // The link, like the one over a connection of Boost.Redis.

    void open(const asio::any_io_executor& strand, const std::shared_ptr<detail::context_poster>&,
              const redis_store::script_set&, redis_store::transport_observer& user) override
    {
        strand_ = strand;
        observer_ = &user;
    }

    void close() noexcept override { observer_ = nullptr; }
    void drop() noexcept override { observer_ = nullptr; }
    void abandon(const std::shared_ptr<batch>&) override {}
    void begin_again(error_code, std::string_view) override {} // of layouts that greet
    void on_read_only() override { read_only_ = true; }

    void send(const std::shared_ptr<batch>& made) override
    {
        sent_batch sent{made, made->adapter(), {}, {}, 0};
        for (const redis_store::command& each : made->commands) {
            const auto parsed = test::parse_resp(std::string_view(made->request.payload())
                                                     .substr(each.begin, each.end - each.begin));
            require(parsed.has_value(), "a command is not complete");
            const std::string& key = parsed->first.items.at(3).text;
            const std::size_t dot = key.find('.');
            request& asked = *requests_.at(std::stoul(key.substr(0, dot)));
            const std::size_t first = std::stoul(key.substr(dot + 1));
            asked.answers.erase(first); // sent again: the first reply does not count
            sent.commands.emplace_back(&asked, first);
            const bool renews = std::string_view("rst").find(asked.kind) != std::string_view::npos;
            const bool acquires = asked.kind == 'a' || asked.kind == 'e';
            const std::size_t renewed = std::min(asked.size - first, renewals_in_a_command);
            asked.slow_path = !renews && parsed->first.items.at(2).text == keys_of_a_queue;
            if (renews)
                sent.expected.push_back({renewed, false});
            else if (asked.slow_path)
                sent.expected.push_back({acquires ? acquired_queued : left_queue, false});
            else
                sent.expected.push_back({acquires ? acquired_short : 0, true});
        }
        if (connected_)
            queue_.push_back(std::move(sent));
        else
            end(made, errc::store_unavailable);
    }

    void end(const std::shared_ptr<batch>& made, error_code unanswered)
    {
        asio::post(strand_,
                   [made, unanswered, owner = made->owner] { owner->on_end(made, unanswered); });
    }

    void on_wakeup(std::string_view) override { fail("a hint without a watch"); }
    void on_connected(store_partition) override {}
    void on_disconnected(store_partition, error_code) override {}

    // The connection.

    void connect()
    {
        stream_ = {};
        connected_ = true;
        if (!probes_) {
            if (observer_ != nullptr)
                observer_->on_up(1'700'000'000'000'000);
            return;
        }
        redis_store::readiness_check readiness_check(redis_store::redisson_script_set());
        boost::redis::any_adapter adapter = readiness_check.adapter();
        message time;
        for (std::size_t i = 0; i < readiness_check.commands(); ++i) {
            for (;;) {
                const auto got = stream_.read(&adapter, ignored_);
                if (got == server_stream::result::broken ||
                    (got == server_stream::result::nothing && !feed()))
                    return lose();
                if (got == server_stream::result::answer)
                    break;
            }
            time = stream_.last();
        }
        const auto told = readiness_check.server_us();
        const auto parts = numbers(time, 2);
        require(!told || (parts && is_time(*told)), "a time that is none");
        if (readiness_check.result().code)
            return lose();
        if (observer_ != nullptr)
            observer_->on_up(told);
    }

    bool feed()
    {
        if (bytes_.empty())
            return false;
        const std::size_t line = bytes_.find('\n');
        const std::string_view piece = bytes_.substr(0, piece_ != 0 ? piece_
                                                        : line == std::string_view::npos
                                                            ? line
                                                            : line + 1);
        stream_.add(piece);
        bytes_.remove_prefix(piece.size());
        return true;
    }

    bool receive()
    {
        for (;;) {
            const auto got = stream_.read(queue_.empty() ? nullptr : &queue_.front().adapter,
                                          ignored_);
            if (got == server_stream::result::broken) {
                lose();
                return false;
            }
            if (got == server_stream::result::nothing)
                break;
            if (got == server_stream::result::answer)
                answered(stream_.last());
        }
        poll();
        return feed();
    }

    void answered(const message& said)
    {
        sent_batch& front = queue_.front();
        const auto [asked, first] = front.commands[front.answered];
        // A reply that no script gives proves nothing, and neither does any later reply.
        require(is_error(said) || front.expected[front.answered].fits(said),
                "an answer of another shape is accepted");
        asked->answers[first] = said;
        if (++front.answered == front.commands.size()) {
            end(front.what, {});
            queue_.pop_front();
        }
        if (closes_) {
            pipeline_->close();
            closed_ = true;
        }
    }

    void lose()
    {
        connected_ = false;
        for (const sent_batch& each : std::exchange(queue_, {}))
            end(each.what, errc::outcome_unknown);
        poll();
        if (observer_ != nullptr)
            observer_->on_down(errc::store_unavailable);
        poll();
    }

    void poll()
    {
        context_.restart();
        context_.poll();
        if (std::exchange(read_only_, false))
            lose();
    }

    // The callers.

    void ask(char kind)
    {
        if (std::string_view("aelmrst").find(kind) == std::string_view::npos)
            return;
        const std::size_t number = requests_.size();
        auto& slot = requests_[number];
        slot = std::make_unique<request>();
        request& r = *slot;
        r.kind = kind;
        const std::string name = std::to_string(number) + ".0";
        switch (kind) {
        case 'a':
        case 'e':
            pipeline_->acquire({name, "owner", kind == 'e' ? "entry" : "", 10s, fences_asked, 5s},
                               [&r](error_code failed, acquire_reply said) {
                                   ++r.calls;
                                   r.failed = failed;
                                   r.acquired = said;
                               });
            break;
        case 'l':
        case 'm':
            pipeline_->release({name, "owner", kind == 'm' ? "entry" : ""},
                               [&r](error_code failed, release_reply said) {
                                   ++r.calls;
                                   r.failed = failed;
                                   r.released = said;
                               });
            break;
        default: {
            r.size = kind == 'r' ? 1 : kind == 's' ? 3 : 60;
            std::vector<std::string> names;
            for (std::size_t i = 0; i < r.size; ++i)
                names.push_back(std::to_string(number) + '.' + std::to_string(i));
            std::vector<renewal> renewals;
            for (const std::string& each : names)
                renewals.push_back({each, "owner", 10s});
            pipeline_->renew(renewals, [&r](error_code failed, renew_reply said) {
                ++r.calls;
                r.failed = failed;
                r.renewed = std::move(said.results);
            });
        }
        }
    }

    // Checks the result of each request against the last reply of the server about it.

    void check(const request& r) const
    {
        require(r.calls == 1,
                r.calls == 0 ? "a handler is never called" : "a handler is called twice");
        switch (r.kind) {
        case 'a':
        case 'e': return check_acquire(r);
        case 'l':
        case 'm': return check_release(r);
        default: check_renewal(r);
        }
    }

    static std::optional<std::vector<std::int64_t>> last_numbers(const request& r,
                                                                 std::size_t first,
                                                                 std::size_t count)
    {
        const auto found = r.answers.find(first);
        return found == r.answers.end() ? std::nullopt : numbers(found->second, count);
    }

    static std::optional<std::int64_t> last_number(const request& r)
    {
        const auto found = r.answers.find(0);
        return found == r.answers.end() ? std::nullopt : number(found->second);
    }

    void check_acquire(const request& r) const
    {
        auto said = last_numbers(r, 0, r.slow_path ? acquired_queued : acquired_short);
        const bool fresh = r.kind == 'a';
        // All requested fences, up to twice the time of the server.
        if (const auto all = last_number(r); fresh && all && *all >= fences_asked && *all % 2 == 0)
            said = {1, *all - fences_asked + 1, fences_asked, *all / 2};
        bool proof = said && is_time(said->back()) && (*said)[0] == 1;
        if (fresh && proof)
            proof = (*said)[1] > 0 && (*said)[2] > 0 && (*said)[2] <= fences_asked;
        const bool granted = !r.failed && r.acquired.result == granted_t::granted;
        require(proof || !granted, "granted without proof");
        require(granted || !proof || closed_, "proof that is not taken for one");
        if (granted && fresh)
            require(r.acquired.first_fence == static_cast<std::uint64_t>((*said)[1]) &&
                        r.acquired.fences == static_cast<std::uint32_t>((*said)[2]),
                    "other fences than were granted");
        if (r.failed || granted)
            return;
        require(said.has_value() && (*said)[0] != 1, "an answer out of nothing");
        const std::int64_t status = (*said)[0];
        const bool as_said = r.acquired.result == granted_t::held
                                 ? status == 0 || (r.slow_path && status == 2)
                             : r.acquired.result == granted_t::late ? status == -1
                                                                    : status == -2 && !r.slow_path;
        require(as_said, "another answer than was given");
        require(r.acquired.queued == (r.slow_path && status != -1 && (*said)[2] != -1),
                "a place in line from nowhere");
        require(r.acquired.remaining <= 24h * 366 * 101,
                "a time to live that cannot be reckoned with");
    }

    void check_release(const request& r) const
    {
        return r.slow_path ? check_long_release(r) : check_short_release(r);
    }

    void check_short_release(const request& r) const
    {
        const auto said = last_number(r);
        if (r.failed)
            return require(closed_ || !said || *said < -2, "an answer is not understood");
        require(said && *said >= -1 && r.released.result == released_t::freed,
                "freed without a word of it");
        require(r.released.receivers_known == (*said >= 0) &&
                    r.released.receivers ==
                        static_cast<std::uint64_t>(std::max<std::int64_t>(*said, 0)),
                "other receivers than there were");
    }

    void check_long_release(const request& r) const
    {
        const auto said = last_numbers(r, 0, left_queue);
        // There is no next owner, because none was requested.
        const bool clear = said && is_time(said->back()) && (*said)[0] >= 0 && (*said)[0] <= 5 &&
                           (*said)[2] == 0;
        if (r.failed)
            return require(closed_ || !clear, "an answer is not understood");
        require(clear, "an answer out of nothing");
        constexpr released_t meanings[] = {released_t::not_owner,    released_t::freed,
                                           released_t::still_held,   released_t::left_queue,
                                           released_t::granted_next, released_t::granted_next};
        require(r.released.result == meanings[(*said)[0]], "another answer than was given");
        require(!r.released.next, "a next owner that was not requested");
        require(r.released.receivers_known || r.released.receivers == 0, "receivers from nowhere");
    }

    static void check_renewal(const request& r)
    {
        require(r.failed || r.renewed.size() == r.size, "not one result for each");
        for (std::size_t first = 0; first < r.size; first += renewals_in_a_command) {
            const std::size_t count = std::min(renewals_in_a_command, r.size - first);
            const auto said = last_numbers(r, first, count);
            for (std::size_t i = 0; i < count && !r.failed; ++i) {
                const renewal_result result = r.renewed[first + i];
                require(result == renewal_result::failed ||
                            (said && (*said)[i] == (result == renewal_result::renewed ? 1 : 0)),
                        "a renewal gets a reply that was not sent");
            }
        }
    }

    asio::io_context& context_;
    const std::string script_;
    std::string_view bytes_;
    const bool probes_;
    const bool closes_;
    std::size_t piece_ = 0; ///< 0: lines.
    bool connected_ = false;
    bool read_only_ = false;
    bool closed_ = false;
    std::map<std::size_t, std::unique_ptr<request>> requests_;
    asio::any_io_executor strand_;
    server_stream stream_;
    boost::redis::any_adapter ignored_;
    redis_store::transport_observer* observer_ = nullptr;
    std::deque<sent_batch> queue_;
    std::shared_ptr<redis_store::pipeline> pipeline_;
};

} // namespace

void reply(std::string_view input)
{
    const std::string_view script = take_line(input);
    asio::io_context context(1);
    const auto one = std::make_shared<session>(context, script, input);
    one->run(one);
}

} // namespace leasehold::fuzz
