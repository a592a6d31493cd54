#include "redis/pipeline/pipeline.hpp"

#include "base/mutant.hpp"

#include <algorithm>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace leasehold::redis_store {
namespace {

// A batch is answered when the server has run all of it, and what comes meanwhile collects in the
// next one.
constexpr std::size_t batch_limit = 128;
constexpr std::size_t under_way_limit = 8;
// One renewal command keeps the server from its other clients for some 100 microseconds at most.
constexpr std::size_t renewals_per_command = 50;
constexpr unsigned attempts_limit = 3;

/// It may take a lock, or a place in a line: what undoes it must not run before it.
bool takes(const command& asked) noexcept
{
    return asked.made.takes || std::holds_alternative<store::acquire_handler>(asked.waiting);
}

bool undoes(const command& asked) noexcept
{
    return asked.made.undoes || std::holds_alternative<store::release_handler>(asked.waiting);
}

} // namespace

pipeline::pipeline(std::shared_ptr<transport> way, std::unique_ptr<command_set> keys,
                   std::unique_ptr<detail::time_source> time, std::chrono::milliseconds timeout)
    : transport_(std::move(way)),
      commands_(std::move(keys)),
      timeout_(timeout),
      local_time_(std::move(time)),
      down_reason_(errc::store_unavailable)
{}

void pipeline::open(const asio::any_io_executor& strand,
                    const std::shared_ptr<detail::context_poster>& home, store_listener& listener)
{
    asio::use_service<detail::context_lifetime>(asio::query(strand, asio::execution::context))
        .add(shared_from_this());
    home_ = home;
    listener_ = &listener;
    local_time_->open(strand, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) {
            self->timer_runs_ = false;
            self->on_time();
        }
    });
    transport_->open(strand, home, commands_->scripts(), *this);
}

void pipeline::close() noexcept
{
    listener_ = nullptr;
    connected_ = false;
    up_ = false;
    down_reason_ = errc::store_unavailable;
    channel_.reset();
    const auto last = std::exchange(transport_, nullptr);
    if (!last || !home_)
        return;
    local_time_->close();
    last->close();
    // Never inside the call.
    try {
        home_->post([self = shared_from_this()] { self->fail_waiting(); });
    }
    catch (const std::bad_alloc&) {
        forget_waiting(); // they may keep this, by way of the client
    }
}

// Whatever is kept belongs to the context that ends: handlers above all, whose destruction may
// reach back into here.
void pipeline::on_context_end() noexcept
{
    listener_ = nullptr;
    connected_ = false;
    up_ = false;
    channel_.reset();
    if (const auto last = std::exchange(transport_, nullptr))
        last->drop();
    local_time_->close();
    forget_waiting();
    const auto under_way = std::exchange(under_way_, {});
    // A borrowed connection goes on with what it has; its answers are for nobody.
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

std::shared_ptr<diagnostics> pipeline::details(std::string_view key, std::string_view said) const
{
    const auto made = std::make_shared<diagnostics>();
    if (transport_)
        made->server = transport_->server();
    made->key = key;
    made->server_message = said;
    return made;
}

// Why the link is down.
pipeline::details_ptr pipeline::down_details(std::string_view key) const
{
    const auto made = details(key, {});
    if (down_reason_ == errc::store_unavailable)
        made->connection_error = down_words_;
    else
        made->server_message = down_words_;
    return made;
}

// Of a command that failed. The listener hears what a server refused; what no server answered is
// told with the end of the connection.
pipeline::details_ptr pipeline::explain(const batch& from, const command& asked, error_code code)
{
    const std::string& said = asked.error();
    const std::string_view key = from.key_of(asked);
    const details_ptr result = said.empty() ? down_details(key) : details(key, said);
    if (!said.empty() && listener_ != nullptr)
        listener_->on_error(0, code, *result);
    return result;
}

template <class Handler, class Reply>
void pipeline::refuse(Handler handler, Reply reply, std::string_view key)
{
    if (!home_)
        return;
    reply.details = down_details(key);
    home_->post(
        [handler = std::move(handler), code = down_reason_, reply = std::move(reply)]() mutable {
            std::move(handler)(code, std::move(reply));
        });
}

void pipeline::begin_again(error_code why)
{
    if (transport_)
        transport_->begin_again(why, {});
}

void pipeline::refuse(asker::answered handler, std::string_view key)
{
    if (!home_)
        return;
    home_->post(
        [handler = std::move(handler), code = down_reason_, more = down_details(key)]() mutable {
            std::move(handler)(code, std::span<const std::int64_t>(), std::move(more));
        });
}

void pipeline::refuse(aside::answered handler)
{
    if (!home_)
        return;
    home_->post([handler = std::move(handler), code = down_reason_]() mutable {
        std::move(handler)(code, answers());
    });
}

/// Behind what was asked, so that it waits for nothing of this.
void pipeline::add_note(batch& to)
try {
    if (!note_ || !up_)
        return;
    const auto now = local_time_->now();
    if (now < note_->due)
        return;
    aside told{[weak = weak_from_this()](error_code failed, answers said) {
        const auto self = weak.lock();
        if (failed || !self || !self->note_->answered(said))
            return;
        // It may be written and not be given an end.
        if (self->open_for_requests())
            self->ask_aside([&](boost::redis::request& into) { return self->note_->remove(into); },
                            [](error_code, answers) {});
    }};
    to.reserve(note_->size());
    to.add(std::move(told), [&](boost::redis::request& into) { return note_->write(now, into); });
}
catch (const std::bad_alloc&) { // then with the next request
}

void pipeline::describe(std::string_view holder, store::describe_handler handler)
{
    struct reading
    {
        note_reading note;
        store::describe_handler handler;
    };
    const auto all = std::make_shared<reading>(reading{note_reading(holder), std::move(handler)});
    for (std::size_t i = 0; i < note_reading::fields; ++i)
        ask_aside([&](boost::redis::request& to) { return all->note.ask(i, to); },
                  [all, i](error_code failed, answers told) {
                      if (!failed)
                          all->note.take(i, told);
                      // Answers, and what stands for them, come in the order of the commands.
                      if (i + 1 == note_reading::fields)
                          std::move(all->handler)(all->note.found());
                  });
}

void pipeline::acquire(const acquire_request& request, store::acquire_handler handler, bool asking)
{
    if (!open_for_requests())
        return refuse(std::move(handler), acquire_reply{}, request.name);
    acquire_request asked = request;
    asked.asks_holder = request.asks_holder && tells_holder_;
    const auto now = local_time_->now();
    const std::int64_t latest = time_.limit(now, request.budget);
    commands_->it_is(time_.at_least(now));
    if (note_ && (!note_->named || request.lease > note_->longest_lease))
        note_->goes_with(request.owner, request.entry, request.lease);
    batch& to_send = next();
    to_send.before_draw_of(commands_->draws(asked), *commands_);
    to_send.add(
        std::move(handler),
        [&](boost::redis::request& to) { return commands_->acquire(asked, latest, to); }, asking);
    flush_first();
}

void pipeline::release(const release_request& request, store::release_handler handler, bool asking)
{
    if (!open_for_requests())
        return refuse(std::move(handler), release_reply{}, request.name);
    const std::int64_t latest = request.next != nullptr
                                    ? time_.limit(local_time_->now(), request.next->budget)
                                    : 0;
    next().add(
        std::move(handler),
        [&](boost::redis::request& to) { return commands_->release(request, latest, to); }, asking);
    flush_first();
}

void pipeline::renew(std::span<const renewal> renewals, store::renew_handler handler, bool asking)
{
    if (!open_for_requests())
        return refuse(std::move(handler), renew_reply({renewals.size(), renewal_result::failed}));
    if (renewals.empty()) {
        home_->post([done = std::move(handler)]() mutable {
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
        next().add(
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

// Behind nothing that is under way it goes at once, and what comes meanwhile collects behind it.
void pipeline::flush_first()
{
    if (under_way_.empty() && !flush_posted_)
        flush();
    else
        flush_soon();
}

// What one turn of the strand brings goes out together.
void pipeline::flush_soon()
{
    if (flush_posted_ || under_way_.size() >= under_way_limit)
        return;
    home_->post([self = shared_from_this()] {
        self->flush_posted_ = false;
        self->flush();
    });
    flush_posted_ = true; // not before: a post without memory for it throws
}

void pipeline::flush()
{
    while (can_send() && !waiting_.empty() && under_way_.size() < under_way_limit) {
        if (!waiting_.front()->torn())
            waiting_.front()->draw_fences(*commands_); // without memory for it, it is torn
        const batch_ptr sent = std::move(waiting_.front());
        waiting_.pop_front();
        if (!sent->torn())
            add_note(*sent);
        if (sent->torn()) {
            give_up(sent);
            continue;
        }
        try {
            under_way_.push_back(sent);
            sent->deadline = local_time_->now() + timeout_;
            sent->start(shared_from_this(), home_);
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

/// There was no memory to write, or to send it.
void pipeline::give_up(const batch_ptr& unsent) noexcept
try {
    home_->post([self = shared_from_this(), unsent] {
        for (command& each : unsent->commands)
            self->finish(*unsent, each, errc::store_unavailable);
    });
}
catch (const std::bad_alloc&) {
    unsent->forget_who_waits();
}

// One wait at a time, for the batch that was sent first: sending one costs no timer of its own.
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
    connected_ = true;
    if (up_ || listener_ == nullptr)
        return;
    channel_ = transport_->channel();
    greet();
}

void pipeline::greet()
{
    greetings_left_ = commands_->greetings();
    if (greetings_left_ == 0)
        return serve();
    ++greeted_;
    for (std::size_t i = 0; i < greetings_left_; ++i)
        next().add(greeting{greeted_, i},
                   [&](boost::redis::request& to) { return commands_->greeting(i, to); });
    flush();
}

void pipeline::answer(command& asked, greeting& what, error_code code, const details_ptr&)
{
    const std::string& words = asked.error();
    if (what.server != greeted_ || greetings_left_ == 0 || !can_send())
        return;
    // Without an answer the connection has ended, or it is of no use.
    const bool answered = !code || !words.empty();
    const error_code refused = answered ? commands_->greeted(what.number, asked.told(), code)
                                        : error_code(errc::store_unavailable);
    if (refused) {
        greetings_left_ = 0;
        return transport_->begin_again(refused, words);
    }
    if (--greetings_left_ == 0)
        serve();
}

/// The server can be asked.
void pipeline::serve()
{
    up_ = true;
    if (note_)
        note_->begin();
    told_reason_ = {};
    down_words_.clear();
    tells_holder_ = true;
    if (commands_->settled())
        listener_->on_settled(0);
    if (listener_ != nullptr)
        listener_->on_connected(0);
    if (listener_ != nullptr && on_serving)
        on_serving();
}

void pipeline::on_down(error_code why, std::string_view said)
{
    const bool was_up = std::exchange(up_, false);
    if (std::exchange(connected_, false) && on_lost)
        on_lost();
    greetings_left_ = 0;
    // Callers are told the reason, so it is one of this library's; of the transport's many errors
    // none asks for anything else.
    down_reason_ = why == condition::bad_request || why == errc::store_refused
                       ? why
                       : errc::store_unavailable;
    down_words_ = said;
    const bool is_news = was_up || down_reason_ != told_reason_ || down_words_ != told_words_;
    if (is_news && listener_ != nullptr) {
        told_reason_ = down_reason_;
        told_words_ = down_words_;
        if (!said.empty())
            listener_->on_error(0, down_reason_, *down_details({}));
        if (listener_ != nullptr)
            listener_->on_disconnected(0, down_reason_);
    }
    fail_waiting();
}

void pipeline::fail_waiting()
{
    const auto self = shared_from_this();
    while (!waiting_.empty()) {
        const batch_ptr first = std::move(waiting_.front());
        waiting_.pop_front();
        for (command& what : first->commands)
            finish(*first, what, down_reason_);
    }
}

// Handlers are destroyed one after the other: that may reach back into here, and there may be no
// memory to put them elsewhere.
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
    pass_on_until(sent);
    flush();
}

void pipeline::on_end(const batch_ptr& sent, error_code unanswered)
{
    const auto self = shared_from_this();
    pass_on_until(sent);
    std::erase(under_way_, sent);
    while (sent->handled < sent->commands.size()) {
        command& asked = sent->commands[sent->handled++];
        finish(*sent, asked, unanswered ? unanswered : error_code(errc::outcome_unknown));
    }
    // It is used again, with its memory, when nothing else knows of it.
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

// The server answers in the order of sending, but the end of one batch may be told after answers to
// the next. Those who wait are told in that order all the same: else what has to be repeated would
// go in another one.
void pipeline::pass_on_until(const batch_ptr& last)
{
    // What is told may send more, so the list may grow meanwhile.
    for (std::size_t i = 0; i < under_way_.size(); ++i) {
        const batch_ptr each = under_way_[i];
        while (each->handled < each->answered())
            finish(*each, each->commands[each->handled++], {});
        if (each == last)
            return;
    }
}

/// Says what became of a command; `unanswered` is set when no answer came.
void pipeline::finish(batch& from, command& asked, error_code unanswered)
{
    if (asked.put_behind)
        --put_behind_;
    error_code code = unanswered;
    if (!code && open_for_requests() && commands_->goes_on(asked.made, asked.told())) {
        if (go_on(from, asked))
            return;
        code = errc::outcome_unknown;
    }
    else if (!code) {
        const std::string& error = asked.error();
        if (!error.empty()) {
            if (is_script_missing(error) && asked.made.called != nullptr && can_repeat(asked) &&
                again(from, asked))
                return;
            if (is_read_only(error) && transport_)
                transport_->on_read_only();
            code = classify(error);
        }
        else if (overtook(from, asked)) {
            // Now it goes behind.
            if (can_repeat(asked)) {
                keep_answer(asked);
                if (again(from, asked))
                    return;
            }
            code = errc::outcome_unknown;
        }
    }
    // What a greeting finds missing need not be there, and what is said aside need not be done; of
    // a draw those tell whose fences it draws.
    const bool is_request = !std::holds_alternative<greeting>(asked.waiting) &&
                            !std::holds_alternative<draw>(asked.waiting) &&
                            !std::holds_alternative<aside>(asked.waiting);
    const details_ptr more = code && is_request ? explain(from, asked, code) : nullptr;
    std::visit([&](auto& waiting) { answer(asked, waiting, code, more); }, asked.waiting);
}

/// What undoes an acquire may have run before it: one of the same lock was put behind.
bool pipeline::overtook(const batch& from, const command& asked) const
{
    if (put_behind_ == 0 || !undoes(asked))
        return false;
    const std::string_view key = from.key_of(asked);
    const auto has_it = [key](const batch_ptr& each) {
        return std::any_of(each->commands.begin() + static_cast<std::ptrdiff_t>(each->handled),
                           each->commands.end(), [&](const command& other) {
                               return other.put_behind && each->names(other, key);
                           });
    };
    return std::any_of(under_way_.begin(), under_way_.end(), has_it) ||
           std::any_of(waiting_.begin(), waiting_.end(), has_it);
}

/// What undoes an acquire is about to be sent again. What it has done counts: the repetition only
/// makes sure that nothing came behind it, and knows nothing of that.
void pipeline::keep_answer(command& asked)
{
    if (auto* const handler = std::get_if<store::release_handler>(&asked.waiting)) {
        const auto first = released(asked);
        if (first.code || first.reply.result == release_reply::outcome::not_owner)
            return;
        *handler = [told = std::move(*handler), first = first.reply](error_code code,
                                                                     release_reply last) mutable {
            if (!code)
                last = std::move(first);
            std::move(told)(code ? errc::outcome_unknown : code, std::move(last));
        };
    }
    else if (auto* const who = std::get_if<asker>(&asked.waiting)) {
        const auto& numbers = asked.told().front().numbers;
        if (numbers.size() != asked.made.expects || numbers.front() == 0)
            return;
        who->handler = [told = std::move(who->handler),
                        first = std::vector<std::int64_t>(numbers.begin(), numbers.end())](
                           error_code code, std::span<const std::int64_t> last,
                           details_ptr more) mutable {
            if (!code)
                last = first;
            std::move(told)(code ? errc::outcome_unknown : code, last, std::move(more));
        };
    }
}

bool pipeline::can_repeat(const command& asked) const noexcept
{
    return can_send() && asked.attempts < attempts_limit;
}

/// The command goes to the server once more. False: there is no memory for it.
bool pipeline::again(batch& from, command& asked)
{
    return behind([&](batch& to) -> command& { return to.repeat(from, asked); });
}

/// What comes of its answer goes to the server. False: there is no memory for it.
bool pipeline::go_on(batch& from, command& asked)
{
    return behind([&](batch& to) -> command& { return to.go_on(from, asked, *commands_); });
}

/// What `add` adds is sent later than what was asked after it.
template <class Add>
bool pipeline::behind(Add add)
{
    command* added = nullptr;
    try {
        added = &add(next());
    }
    catch (const std::bad_alloc&) {
        return false;
    }
    added->put_behind = takes(*added);
    if (added->put_behind)
        ++put_behind_;
    flush_soon();
    return true;
}

void pipeline::answer(command& asked, store::acquire_handler& handler, error_code code,
                      details_ptr more)
{
    said<acquire_reply> told{code, {}};
    if (!code) {
        told = commands_->acquired(asked.made, asked.told());
        if (told.server_us)
            time_.learn(*told.server_us, local_time_->now());
        tells_holder_ = tells_holder_ && !told.holder_hidden;
    }
    if (more)
        told.reply.details = std::move(more);
    told.reply.may_hold = told.code && asked.made.took;
    std::move(handler)(told.code, told.reply);
}

void pipeline::answer(command& asked, store::release_handler& handler, error_code code,
                      details_ptr more)
{
    said<release_reply> told{code, {}};
    if (!code)
        told = released(asked);
    if (more)
        told.reply.details = std::move(more);
    std::move(handler)(told.code, told.reply);
}

said<release_reply> pipeline::released(const command& asked)
{
    auto told = commands_->released(asked.made, asked.told());
    if (told.server_us)
        time_.learn(*told.server_us, local_time_->now());
    told.reply.receivers_known = told.reply.receivers_known &&
                                 (told.reply.result != release_reply::outcome::freed ||
                                  !knows_receivers || knows_receivers());
    return told;
}

void pipeline::answer(command&, draw&, error_code, const details_ptr&) {}

void pipeline::answer(command& asked, asker& who, error_code code, details_ptr more)
{
    std::span<const std::int64_t> numbers;
    if (!code)
        numbers = asked.told().front().numbers;
    if (!code && numbers.size() != asked.made.expects)
        code = errc::outcome_unknown;
    std::move(who.handler)(code, numbers, std::move(more));
}

void pipeline::answer(command& asked, aside& who, error_code code, const details_ptr&)
{
    // What the server said of each command is for the one who asked.
    const bool answered = !code || !asked.error().empty();
    std::move(who.handler)(answered ? error_code() : code, answered ? asked.told() : answers());
}

void pipeline::answer(command& asked, renew_part& part, error_code code, details_ptr more)
{
    renew_job& job = *part.job;
    if (more)
        job.details = std::move(more);
    if (!code) // failed, until it is known better
        code = commands_->renewed(asked.told(),
                                  std::span(job.results).subspan(part.first, part.count));
    if (code)
        job.error = code;
    else
        job.any_ran = true;
    if (--job.outstanding == 0)
        std::move(job.handler)(job.any_ran ? error_code() : job.error,
                               renew_reply(std::move(job.results), std::move(job.details)));
}

} // namespace leasehold::redis_store
