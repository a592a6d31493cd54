#include "redis/pipeline/pipeline.hpp"

#include "base/mutant.hpp"

#include <algorithm>
#include <new>
#include <span>
#include <utility>

namespace leasehold::redis_store {
namespace {

// Requests that arrive while a batch is executed form the next one.
constexpr std::size_t batch_limit = 128;
constexpr std::size_t under_way_limit = 8;
// One renewal command blocks the server for some 100 microseconds at most.
constexpr std::size_t renewals_per_command = 50;

} // namespace

pipeline::pipeline(std::shared_ptr<transport> way, std::unique_ptr<command_set> keys,
                   std::unique_ptr<detail::time_source> time, std::chrono::milliseconds timeout)
    : transport_(std::move(way)),
      commands_(std::move(keys)),
      timeout_(timeout),
      local_time_(std::move(time)),
      session_(*this, *commands_)
{}

void pipeline::open(const asio::any_io_executor& strand,
                    const std::shared_ptr<detail::context_poster>& poster, store_listener& listener)
{
    asio::use_service<detail::context_lifetime>(asio::query(strand, asio::execution::context))
        .add(shared_from_this());
    poster_ = poster;
    session_.open(listener);
    local_time_->open(strand, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) {
            self->timer_runs_ = false;
            self->on_time();
        }
    });
    transport_->open(strand, poster, commands_->scripts(), *this);
}

void pipeline::close() noexcept
{
    session_.close();
    channel_.reset();
    const auto last = std::exchange(transport_, nullptr);
    if (!last || !poster_)
        return;
    local_time_->close();
    last->close();
    // Never inside the call.
    try {
        poster_->post([self = shared_from_this()] { self->fail_waiting(); });
    }
    catch (const std::bad_alloc&) {
        forget_waiting(); // their handlers may keep the client, which keeps this object
    }
}

// Everything that is kept belongs to the context that ends. The destruction of a handler may call
// this object.
void pipeline::on_context_end() noexcept
{
    session_.close();
    channel_.reset();
    if (const auto last = std::exchange(transport_, nullptr))
        last->drop();
    local_time_->close();
    forget_waiting();
    const auto under_way = std::exchange(under_way_, {});
    // A connection of the application keeps its requests; their answers are ignored.
    for (const batch_ptr& each : under_way)
        each->forget_who_waits();
    const auto spare = std::exchange(spare_, {});
}

void pipeline::on_fork() noexcept
{
    if (const auto last = std::exchange(transport_, nullptr))
        last->close();
    on_context_end();
}

void pipeline::acquire(const acquire_request& request, store::acquire_handler handler, bool asking)
{
    if (!open_for_requests())
        return reject(std::move(handler), why_down(acquire_reply(), request.name));
    acquire_request adapted = request;
    adapted.needs_holder = request.needs_holder && session_.shows_holder;
    const auto now = local_time_->now();
    const std::int64_t latest = time_.limit(now, request.budget);
    commands_->it_is(time_.at_least(now));
    if (note_ && (!note_->named || request.lease > note_->longest_lease))
        note_->goes_with(request.owner, request.entry, request.lease);
    batch& to_send = next();
    to_send.before_request_for(adapted.name, *commands_);
    to_send.before_draw_of(commands_->draws(adapted), *commands_);
    to_send.add(
        std::move(handler),
        [&](boost::redis::request& to) { return commands_->acquire(adapted, latest, to); }, asking);
    flush_first();
}

void pipeline::release(const release_request& request, store::release_handler handler, bool asking)
{
    if (!open_for_requests())
        return reject(std::move(handler), why_down(release_reply(), request.name));
    const std::int64_t latest = request.next != nullptr
                                    ? time_.limit(local_time_->now(), request.next->budget)
                                    : 0;
    batch& to_send = next();
    if (sends_later() && commands_->groups(request)) {
        to_send.add_to_group(request, std::move(handler), *commands_);
        return flush_soon();
    }
    to_send.before_request_for(request.name, *commands_);
    to_send.add(
        std::move(handler),
        [&](boost::redis::request& to) { return commands_->release(request, latest, to); }, asking);
    flush_first();
}

void pipeline::renew(std::span<const renewal> renewals, store::renew_handler handler, bool asking)
{
    if (!open_for_requests())
        return reject(std::move(handler),
                      why_down(renew_reply({renewals.size(), renewal_result::failed}), {}));
    if (renewals.empty()) {
        poster_->post([done = std::move(handler)]() mutable {
            std::move(done)(error_code(), renew_reply());
        });
        return;
    }
    const auto job = std::make_shared<renew_job>();
    job->handler = std::move(handler);
    job->results.resize(renewals.size(), renewal_result::failed);
    for (std::size_t first = 0; first < renewals.size(); first += renewals_per_command) {
        const std::size_t count = std::min(renewals_per_command, renewals.size() - first);
        ++job->outstanding;
        batch& to_send = next();
        to_send.before_request_for({}, *commands_);
        to_send.add(
            renew_part{job, first, count},
            [&](boost::redis::request& to) {
                return commands_->renew(renewals.subspan(first, count), to);
            },
            asking);
    }
    flush_first();
}

batch& pipeline::next()
{
    if (waiting_.empty() || waiting_.back()->torn() ||
        waiting_.back()->commands.size() >= batch_limit) {
        if (spare_.empty()) {
            waiting_.push_back(std::make_shared<batch>());
        }
        else {
            waiting_.push_back(std::move(spare_.back()));
            spare_.pop_back();
        }
    }
    return *waiting_.back();
}

// The first batch is sent at once. Requests that arrive before its answer form the next one.
void pipeline::flush_first()
{
    if (sends_later())
        flush_soon();
    else
        flush();
}

// The requests of one turn of the strand are sent together.
void pipeline::flush_soon()
{
    if (flush_posted_ || under_way_.size() >= under_way_limit)
        return;
    poster_->post([self = shared_from_this()] {
        self->flush_posted_ = false;
        self->flush();
    });
    flush_posted_ = true; // after the post, which throws if there is no memory
}

void pipeline::flush()
{
    while (can_send() && !waiting_.empty() && under_way_.size() < under_way_limit) {
        const batch_ptr sent = std::move(waiting_.front());
        waiting_.pop_front();
        try {
            if (!sent->torn())
                sent->complete(*commands_);
            if (!sent->torn() && note_ && session_.up && local_time_->now() >= note_->due)
                add_note(note_, *sent, *this);
            if (sent->torn()) {
                give_up(sent);
                continue;
            }
            under_way_.push_back(sent);
            sent->deadline = local_time_->now() + timeout_;
            sent->start(shared_from_this(), poster_);
            if (channel_)
                batch::execute(sent, channel_);
            else
                transport_->send(sent);
        }
        catch (const std::bad_alloc&) {
            std::erase(under_way_, sent);
            sent->owner.reset();
            give_up(sent);
            throw;
        }
        watch_time();
    }
}

/// There was no memory to write or to send the batch.
void pipeline::give_up(const batch_ptr& unsent) noexcept
try {
    poster_->post(
        [self = shared_from_this(), unsent] { self->fail(*unsent, errc::store_unavailable); });
}
catch (const std::bad_alloc&) {
    unsent->forget_who_waits();
}

// One timer for all batches, for the oldest one.
void pipeline::watch_time()
{
    if (timer_runs_ || under_way_.empty() || transport_ == nullptr)
        return;
    timer_runs_ = true;
    local_time_->wake_at(under_way_.front()->deadline);
}

void pipeline::on_time()
{
    if (transport_ == nullptr)
        return;
    const auto now = local_time_->now();
    const auto late = under_way_;
    for (const batch_ptr& each : late) {
        if (each->deadline <= now && !std::exchange(each->abandoned, true) && transport_)
            transport_->abandon(each);
    }
    if (!under_way_.empty() && !under_way_.front()->abandoned)
        watch_time();
}

void pipeline::on_up(std::optional<std::int64_t> server_us)
{
    if (server_us && !has(mutant::clock_not_learned))
        time_.learn(*server_us, local_time_->now());
    if (transport_)
        channel_ = transport_->channel();
    session_.on_connected();
}

void pipeline::fail_waiting()
{
    const auto self = shared_from_this();
    while (!waiting_.empty()) {
        const batch_ptr first = std::move(waiting_.front());
        waiting_.pop_front();
        fail(*first, session_.reason());
    }
}

void pipeline::fail(batch& unsent, error_code code)
{
    for (command& each : unsent.commands)
        finish(unsent, each, code);
    if (const grouped unwritten = std::move(unsent.releases))
        fail(*unwritten, code);
}

// Handlers are destroyed one by one: the destruction of one may call this object, and there may be
// no memory to move them first.
void pipeline::forget_waiting() noexcept
{
    while (!waiting_.empty()) {
        const batch_ptr first = std::move(waiting_.front());
        waiting_.pop_front();
        first->forget_who_waits();
    }
}

void pipeline::on_answers(const batch_ptr& sent)
{
    const auto self = shared_from_this();
    complete_until(sent);
    flush();
}

void pipeline::on_end(const batch_ptr& sent, error_code unanswered)
{
    const auto self = shared_from_this();
    complete_until(sent);
    std::erase(under_way_, sent);
    while (sent->handled < sent->commands.size()) {
        command& one = sent->commands[sent->handled++];
        finish(*sent, one, unanswered ? unanswered : error_code(errc::outcome_unknown));
    }
    // A batch that nothing else refers to is used again, with its memory.
    if (!sent->abandoned && sent.use_count() == 1 && spare_.size() < under_way_limit &&
        transport_) {
        sent->clear();
        spare_.push_back(sent);
    }
    else {
        sent->owner.reset();
    }
    flush();
    watch_time();
}

// The server answers in the order of sending, but the end of a batch may be reported after answers
// to the next one. Requests complete in the order of sending, so that repetitions keep that order.
void pipeline::complete_until(const batch_ptr& last)
{
    // A handler may send more, so the list may grow.
    for (std::size_t i = 0; i < under_way_.size(); ++i) {
        const batch_ptr each = under_way_[i];
        while (each->handled < each->answered())
            finish(*each, each->commands[each->handled++], {});
        if (each == last)
            return;
    }
}

/// Completes a command. `unanswered` is set if there is no answer.
void pipeline::finish(batch& from, command& one, error_code unanswered)
{
    if (one.put_behind)
        --put_behind_;
    error_code code = unanswered;
    if (!code && open_for_requests() && commands_->goes_on(one.made, one.used_replies())) {
        if (send_behind(from, one, false))
            return;
        code = errc::outcome_unknown;
    }
    else if (!code) {
        const std::string& error = one.error();
        if (!error.empty()) {
            if (is_script_missing(error) && one.made.called != nullptr && can_repeat(one) &&
                send_behind(from, one, true))
                return;
            if (is_read_only(error) && transport_)
                transport_->on_read_only();
            code = classify(error);
        }
        else if (one.undoes() && overtook(from.key_of(one))) {
            // The repetition cannot report the result of the first time. It makes sure that no
            // acquire of the lock is executed after the release.
            if (can_repeat(one)) {
                auto* const handler = std::get_if<store::release_handler>(&one.waiting);
                if (handler == nullptr)
                    one.keep_numbers();
                else if (const auto first = released(one); !first.code)
                    keep(*handler, first.reply);
                if (send_behind(from, one, true))
                    return;
            }
            code = errc::outcome_unknown;
        }
    }
    // Callers of `ask_aside` read the errors. The acquires that share a draw report its error, and
    // the releases of a group report their own.
    const bool is_request = !std::holds_alternative<draw>(one.waiting) &&
                            !std::holds_alternative<aside>(one.waiting) &&
                            (!std::holds_alternative<grouped>(one.waiting) || unanswered);
    const details_ptr more = code && is_request
                                 ? session_.explain(from.key_of(one), code, one.error())
                                 : nullptr;
    std::visit([&](auto& waiting) { answer(one, waiting, code, more); }, one.waiting);
}

/// Sends a command again, or the call that continues it, after the commands that were added since.
/// Returns false if there is no memory for it.
bool pipeline::send_behind(batch& from, command& one, bool repeats)
{
    command* added = nullptr;
    try {
        added = repeats ? &next().repeat(from, one) : &next().go_on(from, one, *commands_);
    }
    catch (const std::bad_alloc&) {
        return false;
    }
    added->put_behind = added->takes();
    if (added->put_behind)
        ++put_behind_;
    flush_soon();
    return true;
}

void pipeline::answer(command& one, store::acquire_handler& handler, error_code code,
                      details_ptr more)
{
    parsed<acquire_reply> result{code, {}};
    if (!code) {
        result = commands_->acquired(one.made, one.used_replies());
        if (result.server_us)
            time_.learn(*result.server_us, local_time_->now());
        session_.shows_holder = session_.shows_holder && !result.holder_hidden;
    }
    if (more)
        result.reply.details = std::move(more);
    result.reply.may_hold = result.code && one.made.holds;
    std::move(handler)(result.code, result.reply);
}

void pipeline::answer(command& one, store::release_handler& handler, error_code code,
                      details_ptr more)
{
    parsed<release_reply> result{code, {}};
    if (!code)
        result = released(one);
    if (more)
        result.reply.details = std::move(more);
    std::move(handler)(result.code, result.reply);
}

parsed<release_reply> pipeline::released(const command& one)
{
    auto result = commands_->released(one.made, one.used_replies());
    if (result.server_us)
        time_.learn(*result.server_us, local_time_->now());
    count_receivers(result.reply);
    return result;
}

void pipeline::answer(command& one, renew_part& part, error_code code, details_ptr more)
{
    if (!code)
        code = commands_->renewed(one.used_replies(), part.results());
    else if (one.is_divided() && !has(mutant::half_moved_is_gone))
        code = {}; // not renewed, and not gone
    part.answered(code, std::move(more));
}

} // namespace leasehold::redis_store
