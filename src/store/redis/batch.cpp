#include "store/redis/batch.hpp"

#include "mutant.hpp"
#include "store/redis/protocol/key_names.hpp"

#include <boost/redis/error.hpp>
#include <boost/redis/resp3/type.hpp>

#include <charconv>
#include <forward_list>
#include <new>
#include <string>
#include <utility>

namespace leasehold::redis_store {
namespace {

// A command that is still waiting when the connection is lost must not run on the next one: the
// caller is told that it was not executed.
constexpr boost::redis::request::config fail_fast{
    .cancel_on_connection_lost = true,
    .cancel_if_not_connected = true,
    .cancel_if_unresponded = true,
    .hello_with_priority = false,
};

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

// The words of a command as Boost.Redis wrote it.
void split(std::string_view text, std::vector<std::string_view>& words)
{
    words.clear();
    for (std::size_t count = read_size(text); count > 0; --count) {
        const std::size_t size = read_size(text);
        words.push_back(text.substr(0, size));
        text.remove_prefix(size + 2);
    }
}

} // namespace

batch::batch() : request(fail_fast)
{
    if (has(mutant::commands_outlive))
        request.get_config() = {.cancel_if_unresponded = false, .hello_with_priority = false};
}

template <class Waiting>
command& batch::add(Waiting waiting, const script& called, std::size_t begin, std::size_t expects)
{
    command& added = commands.emplace_back();
    added.waiting = std::move(waiting);
    added.called = &called;
    added.begin = begin;
    added.end = request.payload().size();
    added.expects = expects;
    return added;
}

void batch::acquire(const acquire_request& wanted, std::int64_t latest,
                    std::chrono::milliseconds retention, store::acquire_handler handler)
{
    const script& called = acquire_script();
    const std::size_t begin = request.payload().size();
    fence_key(wanted.name, key_);
    request.push("EVALSHA", called.sha, 2, wanted.name, key_, wanted.owner, wanted.lease.count(),
                 wanted.fences, latest, retention.count(), wanted.entry,
                 wanted.asks_holder ? 1 : 0);
    add(std::move(handler), called, begin, 4).fences = wanted.entry.empty() ? wanted.fences : 0;
}

void batch::release(const release_request& wanted, store::release_handler handler)
{
    const script& called = release_script();
    const std::size_t begin = request.payload().size();
    release_channel(wanted.name, key_);
    request.push("EVALSHA", called.sha, 1, wanted.name, wanted.owner, wanted.entry, key_);
    add(std::move(handler), called, begin, 2);
}

void batch::renew(std::span<const renewal> renewals, renew_part part)
{
    const script& called = renew_script();
    const std::size_t begin = request.payload().size();

    // The numbers are written first, so that the views of them stay valid.
    constexpr std::size_t width = 20;
    numbers_.resize((renewals.size() + 1) * width);
    const auto write = [&](std::size_t at, auto value) {
        char* const place = numbers_.data() + at * width;
        const auto result = std::to_chars(place, place + width, value);
        return std::string_view(place, static_cast<std::size_t>(result.ptr - place));
    };
    words_.clear();
    words_.push_back(called.sha);
    words_.push_back(write(0, renewals.size()));
    for (const renewal& each : renewals)
        words_.push_back(each.name);
    std::forward_list<std::string>
        markers; // stay where they are; without entries nothing is allocated
    for (std::size_t i = 0; i < renewals.size(); ++i) {
        const renewal& each = renewals[i];
        words_.push_back(each.entry.empty() ? each.owner
                                            : std::string_view(markers.emplace_front(
                                                  entry_field(each.owner, each.entry))));
        words_.push_back(write(i + 1, each.lease.count()));
    }
    request.push_range("EVALSHA", words_);
    const std::size_t expects = part.count;
    add(std::move(part), called, begin, expects);
}

void batch::repeat(const batch& from, command& asked)
{
    split(from.request.payload().substr(asked.begin, asked.end - asked.begin), words_);
    // The text is sent once; what follows in the same batch finds the script there. If that fails,
    // each brings the text.
    bool with_text = asked.attempts > 0;
    if (!with_text) {
        with_text = true;
        for (const command& earlier : commands) {
            if (earlier.called == asked.called && earlier.attempts > 0)
                with_text = false;
        }
    }
    if (has(mutant::text_sent_once) && asked.attempts > 0)
        with_text = false;
    const std::size_t begin = request.payload().size();
    words_.erase(words_.begin());
    words_.front() = with_text ? asked.called->text : std::string_view(asked.called->sha);
    request.push_range(with_text ? "EVAL" : "EVALSHA", words_);
    command& added = add(std::move(asked.waiting), *asked.called, begin, asked.expects);
    added.fences = asked.fences;
    added.attempts = asked.attempts + 1;
}

std::string_view batch::key_of(const command& asked) const
{
    std::vector<std::string_view> words;
    split(request.payload().substr(asked.begin, asked.end - asked.begin), words);
    return words.size() > 3 ? words[3] : std::string_view();
}

void batch::clear()
{
    request.clear();
    commands.clear();
    handled = 0;
    owner.reset();
    home_.reset();
    abandoned = false;
    answered_ = 0;
    announced_ = false;
}

void batch::forget_who_waits() noexcept
{
    for (command& each : commands)
        const auto waiting = std::exchange(each.waiting, {});
}

void batch::start(std::shared_ptr<batch_owner> told, std::shared_ptr<context_poster> home)
{
    owner = std::move(told);
    home_ = std::move(home);
}

boost::redis::any_adapter batch::adapter()
{
    using boost::redis::any_adapter;
    using boost::redis::resp3::type;
    // The operation that sends the batch keeps it alive for longer than it keeps this.
    return any_adapter(
        any_adapter::impl_t([this](any_adapter::parse_event event,
                                   const boost::redis::resp3::node_view& node, error_code& failed) {
            if (event == any_adapter::parse_event::node) {
                command& asked = commands[answered_.load(std::memory_order_relaxed)];
                asked.answer.record(node);
                // No script answers like this, so it belongs to something else: what comes after it
                // may as well, and would be taken for grants. The connection ends here, and nothing
                // is known of all that was asked on it.
                if (asked.answer.odd ||
                    (node.data_type == type::array && node.aggregate_size != asked.expects))
                    failed = boost::redis::error::incompatible_size;
            }
            else if (event == any_adapter::parse_event::done)
                on_reply();
        }));
}

// Answers are passed on as they come, not when the last one is there: while the server works on the
// rest of a large batch, those who were answered go on. One message to the strand covers all that
// one read brought.
void batch::on_reply()
{
    const std::size_t count = answered_.load(std::memory_order_relaxed) + 1;
    answered_.store(count, std::memory_order_release);
    if (count == commands.size() || announced_.exchange(true))
        return;
    try {
        home_->post([self = shared_from_this()] {
            self->announced_ = false;
            if (const auto told = self->owner)
                told->on_answers(self);
        });
    }
    catch (const std::bad_alloc&) {
        announced_ = false; // the next answer, or the end of the batch, tells of this one too
    }
}

} // namespace leasehold::redis_store
