#include "redis/pipeline/batch.hpp"

#include "base/mutant.hpp"
#include "redis/connection/connection.hpp"
#include "redis/protocol/redirection.hpp"

#include <boost/assert.hpp>
#include <boost/redis/error.hpp>
#include <boost/redis/resp3/type.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <new>
#include <utility>

namespace leasehold::redis_store {
namespace {

// A command that is not sent when the connection is lost must not be executed on the next one: its
// caller gets `store_unavailable`.
constexpr boost::redis::request::config fail_fast{
    .cancel_on_connection_lost = true,
    .cancel_if_not_connected = true,
    .cancel_if_unresponded = true,
    .hello_with_priority = false,
};

// A shared draw saves one command for each acquire. Each of them waits for it, so they are few.
constexpr std::uint32_t most_shares = 16;

std::string_view read_line(std::string_view& text)
{
    const std::size_t end = text.find("\r\n");
    const std::string_view line = text.substr(1, end - 1);
    text.remove_prefix(end + 2);
    return line;
}

std::size_t read_size(std::string_view& text)
{
    const std::string_view line = read_line(text);
    std::size_t value = 0;
    std::from_chars(line.data(), line.data() + line.size(), value);
    return value;
}

// Splits a command, as Boost.Redis wrote it, into its words.
void split(std::string_view text, std::vector<std::string_view>& words)
{
    words.clear();
    for (std::size_t count = read_size(text); count > 0; --count) {
        const std::size_t size = read_size(text);
        words.push_back(text.substr(0, size));
        text.remove_prefix(size + 2);
    }
}

// Checks the form of an answer. An answer of another form belongs to another command. So may all
// later answers, which would then be mistaken for grants. The connection is closed, and the outcome
// of all outstanding commands is unknown.
bool fits(const reply& answer, const call& made, std::size_t command,
          const boost::redis::resp3::node_view& node)
{
    using boost::redis::resp3::type;
    if (answer.odd)
        return false;
    if (!answer.error.empty())
        return true;
    switch (made.forms[command]) {
    case answer_form::numbers:
        return node.depth == 1 ||
               (node.data_type == type::array && node.aggregate_size == made.expects);
    case answer_form::number: return node.data_type == type::number && node.depth == 0;
    case answer_form::number_or_numbers:
        return node.depth == 1 || node.data_type == type::number ||
               (node.data_type == type::array && node.aggregate_size == made.expects);
    case answer_form::text:
        return node.depth == 0 &&
               (node.data_type == type::null || node.data_type == type::blob_string ||
                node.data_type == type::simple_string || node.data_type == type::verbatim_string);
    }
    return false;
}

} // namespace

void renew_part::answered(error_code code, std::shared_ptr<const diagnostics> more) const
{
    if (more)
        job->details = std::move(more);
    if (code)
        job->error = code;
    else
        job->any_ran = true;
    if (--job->outstanding == 0)
        std::move(job->handler)(job->any_ran ? error_code() : job->error,
                                renew_reply(std::move(job->results), std::move(job->details)));
}

void asker::complete(const command& one, error_code code, std::shared_ptr<const diagnostics> more)
{
    std::span<const std::int64_t> numbers;
    if (!code)
        numbers = one.used_replies().front().numbers;
    if (!code && numbers.size() != one.made.expects)
        code = errc::outcome_unknown;
    std::move(handler)(code, numbers, std::move(more));
}

void aside::complete(const command& one, error_code code)
{
    if (!code || !one.error().empty())
        std::move(handler)(error_code(), one.used_replies());
    else
        std::move(handler)(code, answers());
}

bool command::takes() const noexcept
{
    return made.takes || std::holds_alternative<store::acquire_handler>(waiting);
}

bool command::undoes() const noexcept
{
    return made.undoes || std::holds_alternative<store::release_handler>(waiting);
}

bool command::is_divided() const
{
    return made.holds && read_redirection(error()).what == redirection::kind::ask;
}

void keep(store::release_handler& handler, const release_reply& first)
{
    if (first.result == release_reply::outcome::not_owner)
        return; // there is nothing to keep
    handler = [done = std::move(handler), first](error_code code, release_reply last) mutable {
        if (!code)
            last = std::move(first);
        std::move(done)(code ? errc::outcome_unknown : code, std::move(last));
    };
}

void command::keep_numbers()
{
    auto* const caller = std::get_if<asker>(&waiting);
    const auto& numbers = used_replies().front().numbers;
    if (caller == nullptr || numbers.size() != made.expects || numbers.front() == 0)
        return;
    caller->handler = [done = std::move(caller->handler),
                       first = std::vector<std::int64_t>(numbers.begin(), numbers.end())](
                          error_code code, std::span<const std::int64_t> last,
                          std::shared_ptr<const diagnostics> more) mutable {
        if (!code)
            last = first;
        std::move(done)(code ? errc::outcome_unknown : code, last, std::move(more));
    };
}

batch::batch() : request(fail_fast)
{
    if (has(mutant::commands_outlive))
        request.get_config() = {.cancel_if_unresponded = false, .hello_with_priority = false};
}

void batch::reserve(std::size_t bytes)
{
    request.reserve(request.payload().size() + bytes);
}

command& batch::repeat(const batch& from, command& one)
{
    split(from.request.payload().substr(one.begin, one.end - one.begin), words_);
    // The first command sends the text, so that later commands of the batch find the script. After
    // a failure, each command sends the text.
    bool with_text = one.attempts > 0;
    if (!with_text) {
        with_text = true;
        for (const command& earlier : commands) {
            if (earlier.made.called == one.made.called && earlier.attempts > 0)
                with_text = false;
        }
    }
    if (has(mutant::text_sent_once) && one.attempts > 0)
        with_text = false;
    const std::size_t begin = begin_command(one.asking);
    if (one.made.called == nullptr) {
        // A call of two commands is never repeated.
        request.push_range(words_.front(), words_.begin() + 1, words_.end());
    }
    else {
        words_.erase(words_.begin());
        const script& called = *one.made.called;
        words_.front() = with_text ? called.text : std::string_view(called.sha);
        request.push_range(with_text ? "EVAL" : "EVALSHA", words_);
    }
    command& added = add(std::move(one.waiting), one.made, begin, one.asking);
    added.attempts = one.attempts + 1;
    return added;
}

command& batch::go_on(const batch& from, command& one, command_set& keys)
{
    // The words of the first command; those of a second command may follow.
    split(from.request.payload().substr(one.begin, one.end - one.begin), words_);
    const std::size_t begin = begin_command(one.asking);
    const call made = keys.go_on(one.made, one.used_replies(), words_, request);
    return add(std::move(one.waiting), made, begin, one.asking);
}

void batch::leave(release_group& group, std::size_t index, command_set& keys)
{
    const std::size_t begin = begin_command(false);
    const call made = keys.slow_release(group.request(index), request);
    add(std::move(group.handler(index)), made, begin, false);
}

/// Returns the position of the next command in the request.
std::size_t batch::begin_command(bool asking)
{
    BOOST_ASSERT(!torn_);
    if (commands.size() == commands.capacity())
        commands.reserve(std::max<std::size_t>(8, 2 * commands.size()));
    torn_ = true;
    if (asking)
        request.push("ASKING"); // applies to one command
    return request.payload().size();
}

std::vector<std::string_view> batch::keys_of(const command& one) const
{
    std::vector<std::string_view> words;
    split(request.payload().substr(one.begin, one.end - one.begin), words);
    std::size_t first = 1;
    std::size_t count = 1;
    if (one.made.called != nullptr) {
        first = 3;
        if (words.size() > first)
            std::from_chars(words[2].data(), words[2].data() + words[2].size(), count);
    }
    words.erase(words.begin(),
                words.begin() + static_cast<std::ptrdiff_t>(std::min(first, words.size())));
    words.resize(std::min(count, words.size()));
    return words;
}

std::string_view batch::key_of(const command& one) const
{
    const std::vector<std::string_view> keys = keys_of(one);
    return keys.empty() ? std::string_view() : keys.front();
}

bool batch::names(const command& one, std::string_view key) const
{
    const std::vector<std::string_view> keys = keys_of(one);
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool batch::has_put_behind(std::string_view key) const
{
    return std::any_of(commands.begin() + static_cast<std::ptrdiff_t>(handled), commands.end(),
                       [&](const command& each) { return each.put_behind && names(each, key); });
}

void batch::clear()
{
    request.clear();
    commands.clear();
    handled = 0;
    owner.reset();
    poster_.reset();
    abandoned = false;
    answered_ = 0;
    announced_ = false;
    read_ = 0;
    undrawn_ = 0;
    torn_ = false;
}

void batch::forget_who_waits() noexcept
{
    for (command& each : commands)
        const auto waiting = std::exchange(each.waiting, {});
    const auto unwritten = std::move(releases);
}

void batch::start(std::shared_ptr<batch_owner> receiver,
                  std::shared_ptr<detail::context_poster> poster)
{
    owner = std::move(receiver);
    poster_ = std::move(poster);
}

boost::redis::any_adapter batch::adapter()
{
    using boost::redis::any_adapter;
    using boost::redis::resp3::type;
    // The sending operation keeps the batch alive for longer than this adapter.
    return any_adapter(
        any_adapter::impl_t([this](any_adapter::parse_event event,
                                   const boost::redis::resp3::node_view& node, error_code& failed) {
            if (has(mutant::commands_outlive) && read_ == commands.size())
                return; // sent again after some commands were answered
            command& one = commands[read_];
            if (one.asking && !one.granted) {
                // If ASKING fails, the next command fails, too.
                one.granted = event == any_adapter::parse_event::done;
                return;
            }
            reply& answer = one.replies[one.got];
            if (event == any_adapter::parse_event::node) {
                answer.record(node);
                if (!fits(answer, one.made, one.got, node))
                    failed = boost::redis::error::incompatible_size;
            }
            else if (event == any_adapter::parse_event::done && ++one.got == one.made.commands)
                on_reply();
        }));
}

void batch::before_draw_of(std::uint32_t fences, command_set& keys)
{
    if (undrawn_ != 0 && fences != 0 &&
        (undrawn_ == most_shares || commands[first_undrawn_].made.fences != fences))
        draw_fences(keys);
}

void batch::add_to_group(const release_request& one, store::release_handler handler,
                         command_set& keys)
{
    before_request_for(one.name, keys);
    if (releases && releases->size() == release_group::most)
        write_releases(keys);
    if (!releases)
        releases = std::make_unique<release_group>();
    releases->add(one, std::move(handler));
}

void batch::before_request_for(std::string_view name, command_set& keys)
{
    if (releases && (name.empty() || releases->may_have(name)))
        write_releases(keys);
}

void batch::complete(command_set& keys)
{
    draw_fences(keys);
    if (releases)
        write_releases(keys);
}

void batch::write_releases(command_set& keys)
{
    const std::size_t begin = begin_command(false);
    if (releases->size() == 1) {
        const call made = keys.release(releases->request(0), 0, request);
        add(std::move(releases->handler(0)), made, begin, false);
        releases.reset();
    }
    else {
        const call made = keys.release_all(*releases, request);
        add(std::move(releases), made, begin, false);
    }
}

void batch::draw_fences(command_set& keys)
{
    if (undrawn_ == 0)
        return;
    const std::uint32_t each = commands[first_undrawn_].made.fences;
    add(draw(), [&](boost::redis::request& to) {
        keys.draw(std::uint64_t(undrawn_) * each, to);
        return call{.forms = {answer_form::number}, .fences = each, .shares = undrawn_};
    });
    for (std::size_t i = first_undrawn_; i + 1 < commands.size(); ++i)
        commands[i].undrawn = true;
    undrawn_ = 0;
}

// Each acquire gets the fences that a draw of its own would have returned, in their order.
void batch::share(std::size_t drawn)
{
    const reply& whole = commands[drawn].replies.front();
    std::int64_t end = whole.is(1) ? std::max<std::int64_t>(whole.numbers[0], 0) : 0;
    for (std::size_t i = drawn; i-- > 0 && commands[i].undrawn;) {
        const command& one = commands[i];
        if (!one.made.draws)
            continue;
        reply& part = commands[i].replies[one.made.commands];
        part = whole;
        if (!whole.is(1))
            continue;
        part.numbers[0] = std::max<std::int64_t>(end, 0); // too small an answer: no fences
        end -= has(mutant::shares_alike) ? 0 : one.made.fences;
    }
}

// Answers are delivered as they arrive: their callers continue while the server executes the rest
// of a large batch. One message to the strand covers all answers of one read.
void batch::on_reply()
{
    const command& one = commands[read_];
    if (one.made.shares != 0)
        share(read_);
    const std::size_t count = ++read_;
    if (one.undrawn)
        return; // delivered with the draw, because handlers are invoked in order
    answered_.store(count, std::memory_order_release);
    if (count == commands.size() || announced_.exchange(true))
        return;
    try {
        poster_->post([self = shared_from_this()] {
            self->announced_ = false;
            if (const auto receiver = self->owner)
                receiver->on_answers(self);
        });
    }
    catch (const std::bad_alloc&) {
        announced_ = false; // the next answer, or the end of the batch, delivers this one too
    }
}

void batch::execute(const std::shared_ptr<batch>& sent,
                    const std::shared_ptr<request_channel>& through)
{
    redis_store::execute(*through, sent->request, sent->adapter(), sent->abandon.slot(),
                         [sent, through](error_code error, bool written) {
                             error_code unanswered;
                             if (error)
                                 unanswered = written ? errc::outcome_unknown
                                                      : errc::store_unavailable;
                             const auto receiver = sent->owner;
                             receiver->on_end(sent, unanswered);
                         });
}

} // namespace leasehold::redis_store
