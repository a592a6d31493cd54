// The first line is a script of requests to the layout `native`, the rest is sent by the server,
// first in reply to the greeting of each connection:
//   a  acquire a lock      A  once more, after a lost reply
//   w  wait for it         e  acquire it again
//   l  release it          m  release an entry      n  release it, and wait for it again
//   r  renew one lock      s  renew three
//   .  wait for the replies; then continue, on a new connection if the old one was closed
//   b  connections may be replaced without a notification
//   c  close the store after the first reply
//   1 to 9  the server's bytes arrive in pieces of this size, not in lines
#include "fuzz/server_stream.hpp"
#include "fuzz/targets.hpp"

#include "core/async/context_poster.hpp"
#include "redis/commands/native_commands.hpp"
#include "redis/commands/native_keys.hpp"
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
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::fuzz {
namespace {

using namespace std::chrono_literals;
using boost::redis::resp3::type;
using redis_store::answer_form;
using redis_store::batch;
using granted_t = acquire_reply::outcome;
using released_t = release_reply::outcome;

constexpr std::uint32_t fences_asked = 100;
constexpr std::uint32_t fences_short = 16;

bool is_error(const message& said)
{
    return said.size() == 1 &&
           (said[0].data_type == type::simple_error || said[0].data_type == type::blob_error);
}

std::optional<std::int64_t> number(const boost::redis::resp3::node& said, std::size_t depth)
{
    std::int64_t value = 0;
    const char* const end = said.value.data() + said.value.size();
    const auto [last, failed] = std::from_chars(said.value.data(), end, value);
    const bool is_whole = said.depth == depth && failed == std::errc() && last == end;
    return is_whole ? std::optional(value) : std::nullopt;
}

/// A list of whole numbers; empty: the reply is something else.
std::optional<std::vector<std::int64_t>> numbers(const message& said, std::size_t count)
{
    if (said.size() != count + 1 || said[0].data_type != type::array || said[0].depth != 0 ||
        said[0].aggregate_size != count)
        return std::nullopt;
    std::vector<std::int64_t> result;
    for (std::size_t i = 1; i <= count; ++i) {
        const auto value = number(said[i], 1);
        const bool is_number = said[i].data_type == type::number ||
                               said[i].data_type == type::blob_string;
        if (!value || !is_number)
            return std::nullopt;
        result.push_back(*value);
    }
    return result;
}

std::optional<std::int64_t> number(const message& said)
{
    return said.size() == 1 && said[0].data_type == type::number ? number(said[0], 0)
                                                                 : std::nullopt;
}

bool is_nil(const message& said)
{
    return said.size() == 1 && said[0].data_type == type::null;
}

bool is_text(const message& said)
{
    const auto kind = said.empty() ? type::null : said[0].data_type;
    return said.size() == 1 && (kind == type::blob_string || kind == type::simple_string ||
                                kind == type::verbatim_string);
}

/// Microseconds since 1970, until the year 2255.
bool is_time(std::int64_t us)
{
    return us > 0 && us < (std::int64_t(1) << 53);
}

/// One of the calls that a request caused in turn.
struct sent_call
{
    std::string verb;
    bool gets = false; ///< `SET` returns the previous value.
    std::vector<message> answers;
};

struct request
{
    char kind = 0;
    std::size_t size = 1;         ///< For a renewal.
    std::uint64_t given_before{}; ///< The largest fence at the time of the request.
    int calls = 0;
    error_code failed;
    acquire_reply acquired;
    release_reply released;
    std::vector<renewal_result> renewed;
    std::deque<sent_call> became; // a deque, because the addresses must be stable

    [[nodiscard]] const sent_call* last() const
    {
        return became.empty() ? nullptr : &became.back();
    }
    /// The numbers in the reply of the script of the last call.
    [[nodiscard]] std::optional<std::vector<std::int64_t>> said(std::size_t count) const
    {
        const sent_call* const call = last();
        return call == nullptr || call->answers.size() != 1 ? std::nullopt
                                                            : numbers(call->answers[0], count);
    }
};

class native_session final : public redis_store::transport, public store_listener
{
public:
    native_session(asio::io_context& context, std::string_view script, std::string_view bytes)
        : context_(context), script_(script.substr(0, 64)), bytes_(bytes), closes_(says('c'))
    {
        if (const std::size_t digit = script_.find_first_of("123456789");
            digit != std::string::npos)
            piece_ = static_cast<std::size_t>(script_[digit] - '0');
    }

    void run(const std::shared_ptr<native_session>& self)
    {
        const asio::any_io_executor strand = asio::make_strand(context_);
        pipeline_ = std::make_shared<redis_store::pipeline>(
            self, std::make_unique<redis_store::native_commands>(nullptr, says('b')),
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
            serve();
            if (!queue_.empty())
                lose();
        }
        pipeline_->close();
        poll();
        lose();
        strand_ = {};
        for (const auto& [key, each] : requests_)
            check(*each);
        pipeline_.reset();
    }

private:
    struct sent_batch
    {
        std::shared_ptr<batch> what;
        boost::redis::any_adapter adapter;
        /// For each command: its request (null for a greeting), the number of the call, and the
        /// form of the reply.
        struct part
        {
            request* of;
            std::size_t call;
            answer_form form;
            std::size_t expects;
            std::uint32_t fences = 0; ///< For each lock that it draws for.
            std::vector<sent_call*> shared{};
        };
        std::vector<part> parts;
        std::size_t answered = 0;
    };

    [[nodiscard]] bool says(char letter) const { return script_.find(letter) != std::string::npos; }

    // The transport, like the one over a connection of Boost.Redis.

    void open(const asio::any_io_executor& strand, const std::shared_ptr<detail::context_poster>&,
              const redis_store::script_set&, redis_store::transport_observer& user) override
    {
        strand_ = strand;
        observer_ = &user;
    }

    void close() noexcept override { observer_ = nullptr; }
    void drop() noexcept override { observer_ = nullptr; }
    void abandon(const std::shared_ptr<batch>&) override {}
    void begin_again(error_code, std::string_view) override { ends_ = true; }
    void on_read_only() override { ends_ = true; }

    void send(const std::shared_ptr<batch>& made) override
    {
        sent_batch sent{made, made->adapter(), {}, 0};
        std::vector<sent_call*> undrawn;
        for (const redis_store::command& each : made->commands) {
            const auto parsed = test::parse_resp(std::string_view(made->request.payload())
                                                     .substr(each.begin, each.end - each.begin));
            require(parsed.has_value(), "a command is not complete");
            const auto& words = parsed->first.items;
            const std::string& verb = words.at(0).text;
            const bool by_script = verb.starts_with("EVAL");
            const std::string& key = words.at(by_script ? 3 : 1).text;
            request* of = nullptr;
            if (verb != "CLIENT" && key != redis_store::native_keys().fence()) {
                of = requests_.at(key.substr(0, key.find('.'))).get();
                of->became.push_back({verb, words.back().text == "GET", {}});
                if (each.made.draws)
                    undrawn.push_back(&of->became.back());
            }
            for (std::size_t i = 0; i < each.made.commands; ++i)
                sent.parts.push_back({of, of == nullptr ? 0 : of->became.size() - 1,
                                      each.made.forms[i], each.made.expects});
            if (each.made.shares != 0) {
                require(each.made.shares == undrawn.size(), "a draw for others than before it");
                sent.parts.back().fences = each.made.fences;
                sent.parts.back().shared = std::exchange(undrawn, {});
            }
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
        if (observer_ != nullptr)
            observer_->on_up(1'700'000'000'001'000); // a block ahead of the counter
        poll();
        serve();
    }

    void serve()
    {
        while (connected_ && !queue_.empty() && receive()) {
        }
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
        return connected_ && feed();
    }

    static bool fits(const sent_batch::part& asked, const message& said)
    {
        switch (asked.form) {
        case answer_form::numbers: return numbers(said, asked.expects).has_value();
        case answer_form::number: return number(said).has_value();
        default: return is_nil(said) || is_text(said);
        }
    }

    void answered(const message& said)
    {
        sent_batch& front = queue_.front();
        const sent_batch::part asked = front.parts[front.answered];
        // A reply that no server gives proves nothing, and neither does any later reply.
        require(is_error(said) || fits(asked, said), "an answer of another shape is accepted");
        if (asked.of != nullptr)
            asked.of->became[asked.call].answers.push_back(said);
        share(asked, said);
        if (++front.answered == front.parts.size()) {
            end(front.what, {});
            queue_.pop_front();
        }
        if (closes_)
            pipeline_->close();
    }

    /// The last request has the end of the drawn block.
    static void share(const sent_batch::part& drawn, const message& said)
    {
        std::int64_t end = std::max<std::int64_t>(number(said).value_or(0), 0);
        for (auto each = drawn.shared.rbegin(); each != drawn.shared.rend(); ++each) {
            message part = said;
            if (number(said))
                part[0].value = std::to_string(std::max<std::int64_t>(end, 0));
            (*each)->answers.push_back(std::move(part));
            end -= drawn.fences;
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
        if (std::exchange(ends_, false))
            lose();
    }

    // The callers.

    void ask(char kind)
    {
        if (std::string_view("aAwelmnrs").find(kind) == std::string_view::npos)
            return;
        const std::string key = std::to_string(requests_.size());
        request& r = *(requests_[key] = std::make_unique<request>());
        r.kind = kind;
        r.given_before = given_;
        const std::string name = key + ".0";
        if (std::string_view("aAwe").find(kind) != std::string_view::npos)
            acquire(r, name);
        else if (std::string_view("lmn").find(kind) != std::string_view::npos)
            release(r, name);
        else
            renew(r, key);
    }

    void acquire(request& r, const std::string& name)
    {
        pipeline_->acquire({.name = name,
                            .owner = "owner:1",
                            .entry = r.kind == 'e' ? "entry" : "",
                            .lease = 10s,
                            .fences = fences_asked,
                            .budget = 5s,
                            .again = r.kind == 'A',
                            .waits = r.kind == 'w',
                            .presence = 10s,
                            .claim = 1s},
                           [this, &r](error_code failed, const acquire_reply& said) {
                               ++r.calls;
                               r.failed = failed;
                               r.acquired = said;
                               if (!failed && said.result == granted_t::granted)
                                   give(said);
                           });
    }

    void release(request& r, const std::string& name)
    {
        const acquire_request next{.name = name,
                                   .owner = "owner:2",
                                   .entry = {},
                                   .lease = 10s,
                                   .fences = fences_asked,
                                   .budget = 5s,
                                   .waits = true,
                                   .presence = 10s,
                                   .claim = 1s};
        pipeline_->release({.name = name,
                            .owner = "owner:1",
                            .entry = r.kind == 'm' ? "entry" : "",
                            .next = r.kind == 'n' ? &next : nullptr},
                           [this, &r](error_code failed, const release_reply& said) {
                               ++r.calls;
                               r.failed = failed;
                               r.released = said;
                               if (!failed && said.next && said.next->result == granted_t::granted)
                                   give(*said.next);
                           });
    }

    void renew(request& r, const std::string& key)
    {
        r.size = r.kind == 'r' ? 1 : 3;
        std::vector<std::string> names;
        for (std::size_t i = 0; i < r.size; ++i)
            names.push_back(key + '.' + std::to_string(i));
        std::vector<renewal> renewals;
        for (const std::string& each : names)
            renewals.push_back({each, "owner:1", 10s});
        pipeline_->renew(renewals, [&r](error_code failed, renew_reply said) {
            ++r.calls;
            r.failed = failed;
            r.renewed = std::move(said.results);
        });
    }

    void give(const acquire_reply& said)
    {
        if (said.fences != 0)
            given_ = std::max(given_, said.first_fence + said.fences - 1);
    }

    // Checks the result of each request against the last reply of the server about it.

    static void check(const request& r)
    {
        require(r.calls == 1,
                r.calls == 0 ? "a handler is never called" : "a handler is called twice");
        if (std::string_view("aAwe").find(r.kind) != std::string_view::npos)
            check_acquire(r);
        else if (std::string_view("lmn").find(r.kind) != std::string_view::npos)
            check_release(r);
        else
            check_renewal(r);
    }

    static void check_block(const request& r, const acquire_reply& said, std::int64_t last,
                            std::int64_t fences, std::uint32_t most)
    {
        require(fences >= 1 && fences <= most, "another number of fences than was asked for");
        require(last >= fences, "a block that begins below zero");
        require(said.fences == fences &&
                    said.first_fence == static_cast<std::uint64_t>(last - fences + 1),
                "other fences than were drawn");
        require(said.first_fence > r.given_before, "a fence that is not larger than those before");
    }

    static void check_acquire(const request& r)
    {
        if (r.failed)
            return;
        const sent_call* const call = r.last();
        require(call != nullptr, "an answer out of nothing");
        require(r.acquired.remaining <= 24h * 366 * 101,
                "a time to live that cannot be reckoned with");
        if (call->verb == "SET")
            return check_short(r, *call);
        const auto said = r.said(5);
        require(said && is_time((*said)[4]), "an answer out of nothing");
        const std::int64_t status = (*said)[0];
        switch (r.acquired.result) {
        case granted_t::granted:
            require(status == 1, "granted without proof");
            if (r.kind != 'e') {
                const bool was_short = r.became.size() > 1 && r.became.front().verb == "SET";
                check_block(r, r.acquired, (*said)[1], (*said)[3],
                            was_short ? fences_short : fences_asked);
            }
            break;
        case granted_t::held: require(status == 0 || status == 2, "held without an owner"); break;
        case granted_t::late: require(status == -1, "late without a word"); break;
        case granted_t::gone: require(status == -2, "gone without a word"); break;
        }
    }

    static void check_short(const request& r, const sent_call& call)
    {
        require(r.kind == 'a' || r.kind == 'w',
                "a request that was sent before took the short way");
        require(call.answers.size() == 2 && !is_error(call.answers[0]), "an answer out of nothing");
        const message& before = call.answers[0];
        if (r.acquired.result == granted_t::held)
            return require(call.gets ? is_text(before) : is_nil(before), "held without an owner");
        const bool set = call.gets ? is_nil(before) : is_text(before) && before[0].value == "OK";
        require(r.acquired.result == granted_t::granted && set, "granted without proof");
        const auto last = number(call.answers[1]);
        require(last.has_value(), "a fence out of nothing");
        check_block(r, r.acquired, *last, r.acquired.fences, fences_short);
    }

    static void check_release(const request& r)
    {
        if (r.failed)
            return;
        const sent_call* const call = r.last();
        require(call != nullptr && call->answers.size() == 1, "an answer out of nothing");
        const released_t told = r.released.result;
        if (const auto count = number(call->answers[0])) {
            require(told == released_t::freed && *count == 1, "freed without proof");
            return require(!r.released.next, "a next owner that was not sent");
        }
        const auto said = r.said(5);
        require(said && is_time((*said)[4]), "an answer out of nothing");
        constexpr released_t meanings[] = {released_t::not_owner,    released_t::freed,
                                           released_t::still_held,   released_t::left_queue,
                                           released_t::granted_next, released_t::granted_next};
        const std::int64_t status = (*said)[0];
        require(status >= 0 && status <= 5 && told == meanings[status],
                "another answer than was given");
        if (!r.released.next)
            return;
        const bool granted = r.released.next->result == granted_t::granted;
        require((*said)[1] == (granted ? 1 : 2), "another next owner than was told");
        if (granted)
            check_block(r, *r.released.next, (*said)[2], (*said)[3],
                        r.kind == 'n' ? fences_asked : 0);
    }

    static void check_renewal(const request& r)
    {
        require(r.failed || r.renewed.size() == r.size, "not one result for each");
        const auto said = r.said(r.size);
        for (std::size_t i = 0; i < r.size && !r.failed; ++i)
            require(r.renewed[i] == renewal_result::failed ||
                        (said && (*said)[i] == (r.renewed[i] == renewal_result::renewed ? 1 : 0)),
                    "a renewal gets a reply that was not sent");
    }

    asio::io_context& context_;
    const std::string script_;
    std::string_view bytes_;
    const bool closes_;
    std::size_t piece_ = 0; ///< 0: lines.
    bool connected_ = false;
    bool ends_ = false;       ///< The pipeline has rejected this server.
    std::uint64_t given_ = 0; ///< The largest fence that was granted.
    std::map<std::string, std::unique_ptr<request>> requests_;
    asio::any_io_executor strand_;
    server_stream stream_;
    boost::redis::any_adapter ignored_;
    redis_store::transport_observer* observer_ = nullptr;
    std::deque<sent_batch> queue_;
    std::shared_ptr<redis_store::pipeline> pipeline_;
};

} // namespace

void native(std::string_view input)
{
    const std::string_view script = take_line(input);
    asio::io_context context(1);
    const auto one = std::make_shared<native_session>(context, script, input);
    one->run(one);
}

} // namespace leasehold::fuzz
