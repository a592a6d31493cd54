#include "redis/pipeline/client_note.hpp"

#include "redis/pipeline/pipeline.hpp"
#include "redis/protocol/key_names.hpp"

#include <leasehold/diagnostics.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <new>
#include <system_error>

namespace leasehold::redis_store {
namespace {

constexpr std::chrono::milliseconds shortest_life = std::chrono::minutes(10);
constexpr std::chrono::milliseconds longest_known = std::chrono::years(10);

constexpr std::array<std::string_view, note_reading::fields> field_names{"host", "pid", "program",
                                                                         "since", "version"};

// A longer text is cut: the fields are for display.
constexpr std::size_t longest_text = 256;

std::int64_t number_in(const std::string& text)
{
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [last, failed] = std::from_chars(text.data(), end, value);
    return failed == std::errc() && last == end && value > 0 ? value : 0;
}

/// Reads the answers of a write. Deletes a record that was written without a TTL, because it would
/// stay forever.
aside::answered after_write(const std::shared_ptr<client_note>& note, pipeline& through)
{
    return [note, weak = through.weak_from_this()](error_code failed, answers from) {
        const auto self = weak.lock();
        if (!failed && self && note->answered(from))
            self->ask_aside([&](boost::redis::request& into) { return note->remove(into); },
                            [](error_code, answers) {});
    };
}

} // namespace

std::shared_ptr<client_note> client_note::make(const redis_config& settings, environment& from)
{
    client_info info = settings.client_info ? from.this_client() : client_info();
    return info.empty() ? nullptr : std::make_shared<client_note>(std::move(info), settings.prefix);
}

void client_note::begin() noexcept
{
    written_ = clock::time_point::min();
    not_before_ = clock::time_point::min();
    refused_ = false;
    schedule();
}

void client_note::belongs_to(std::string_view owner)
{
    if (named)
        return;
    if (const std::string client = holder_name(owner); !client.empty()) {
        client_key(prefix_, client, key_);
        named = true;
        schedule();
    }
}

void client_note::lives_for(std::chrono::milliseconds lease) noexcept
{
    longest_lease = std::max(longest_lease, std::min(lease, longest_known));
    schedule();
}

void client_note::put_off(clock::time_point until) noexcept
{
    not_before_ = until;
    schedule();
}

void client_note::schedule() noexcept
{
    due = clock::time_point::max();
    if (refused_ || !named)
        return;
    // The record is written after the next request. A holder sends one every third of its lease.
    const bool at_once = written_ == clock::time_point::min() || life_ < 2 * longest_lease;
    due = at_once ? not_before_ : std::max(not_before_, written_ + life_ / 3);
}

std::size_t client_note::size() const noexcept
{
    constexpr std::size_t all_else = 512; // field names, numbers and separators
    return info_.host.size() + info_.program.size() + info_.version.size() + 2 * key_.size() +
           all_else;
}

call client_note::write(clock::time_point now, boost::redis::request& to)
{
    written_ = now;
    life_ = std::max(shortest_life, 3 * longest_lease);
    schedule();
    const std::string pid = std::to_string(info_.pid);
    const std::string since = std::to_string(info_.since.time_since_epoch().count());
    const std::array<std::string_view, note_reading::fields> values{info_.host, pid, info_.program,
                                                                    since, info_.version};
    std::array<std::string_view, 2 * note_reading::fields> words;
    for (std::size_t i = 0; i < field_names.size(); ++i) {
        words[2 * i] = field_names[i];
        words[2 * i + 1] = values[i];
    }
    to.push_range("HSET", key_, words);
    to.push("PEXPIRE", key_, life_.count());
    return {.commands = 2, .forms = {answer_form::number, answer_form::number}};
}

bool client_note::answered(answers replies)
{
    const auto refuses = [](const reply& answer) {
        return !answer.error.empty() && classify(answer.error) != errc::store_refused;
    };
    refused_ = std::any_of(replies.begin(), replies.end(), refuses);
    schedule();
    return replies.size() == 2 && replies[0].error.empty() && !replies[1].error.empty();
}

call client_note::remove(boost::redis::request& to) const
{
    to.push("DEL", key_);
    return {.forms = {answer_form::number}};
}

note_reading::note_reading(std::string_view prefix, std::string_view holder)
{
    client_key(prefix, holder, key_);
}

call note_reading::ask(std::size_t number, boost::redis::request& to) const
{
    to.push("HGET", key_, field_names[number]);
    return {.forms = {answer_form::text}};
}

void note_reading::take(std::size_t number, answers replies)
{
    if (replies.empty() || !replies.front().error.empty() || !replies.front().text)
        return;
    const std::string text = replies.front().text->substr(0, longest_text);
    switch (number) {
    case 0: found_.host = text; break;
    case 1: found_.pid = number_in(text); break;
    case 2: found_.program = text; break;
    case 3:
        found_.since = decltype(found_.since)(std::chrono::milliseconds(number_in(text)));
        break;
    default: found_.version = text;
    }
}

void add_note(const std::shared_ptr<client_note>& note, batch& to, pipeline& through)
try {
    aside written{after_write(note, through)};
    to.reserve(note->size());
    to.add(std::move(written),
           [&](boost::redis::request& into) { return note->write(through.now(), into); });
}
catch (const std::bad_alloc&) {
}

void write_note(const std::shared_ptr<client_note>& note, pipeline& through)
{
    through.ask_aside([&](boost::redis::request& into) { return note->write(through.now(), into); },
                      after_write(note, through));
}

void read_note(pipeline& through, note_reading note, store::describe_handler handler)
{
    struct reading
    {
        note_reading note;
        store::describe_handler handler;
    };
    const auto all = std::make_shared<reading>(reading{std::move(note), std::move(handler)});
    for (std::size_t i = 0; i < note_reading::fields; ++i)
        through.ask_aside([&](boost::redis::request& to) { return all->note.ask(i, to); },
                          [all, i](error_code failed, answers replies) {
                              if (!failed)
                                  all->note.take(i, replies);
                              // Answers, and errors in their place, come in order.
                              if (i + 1 == note_reading::fields)
                                  std::move(all->handler)(all->note.found());
                          });
}

} // namespace leasehold::redis_store
