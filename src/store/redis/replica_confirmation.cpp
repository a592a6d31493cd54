#include "store/redis/replica_confirmation.hpp"

#include "store/redis/layout/presence.hpp"

#include <boost/redis/adapter/any_adapter.hpp>

#include <algorithm>
#include <list>
#include <new>
#include <utility>

namespace leasehold::redis_store {
namespace {

// Written before each WAIT, so that there is something to wait for, and gone soon after.
constexpr std::string_view marker = "leasehold:confirmation";

constexpr std::size_t round_limit = 1'000;

// A connection that WAIT holds up does not answer a health check. No WAIT lasts longer than 4 s.
config patient(config settings)
{
    settings.health_check = std::max<std::chrono::milliseconds>(settings.health_check,
                                                                std::chrono::seconds(5));
    return settings;
}

} // namespace

/// Questions with the same number of replicas and the same limit, asked together.
struct replica_confirmation::round
{
    std::list<question> questions;
    std::shared_ptr<boost::redis::request> request = make_request();
    std::vector<reply> answers; ///< One for each question, then those of the marker and of WAIT.
    std::size_t answered = 0;
    std::size_t count = 0; ///< Of questions.

    boost::redis::any_adapter adapter()
    {
        using boost::redis::any_adapter;
        return any_adapter(
            any_adapter::impl_t([this](any_adapter::parse_event event,
                                       const boost::redis::resp3::node_view& node, error_code&) {
                if (event == any_adapter::parse_event::node)
                    answers[answered].record(node);
                else if (event == any_adapter::parse_event::done)
                    ++answered;
            }));
    }
};

replica_confirmation::replica_confirmation(const config& settings,
                                           std::shared_ptr<environment> from)
    : push_connection(patient(settings), std::move(from)), keys_(settings.layout)
{}

void replica_confirmation::confirm(const renewal& held, handler& done)
{
    if (!is_made() && listener() != nullptr)
        connect();
    waiting_.push_back({std::string(held.name),
                        std::string(held.owner),
                        std::string(held.entry),
                        held.replica_acks,
                        held.replica_timeout,
                        {}});
    try {
        begin_soon();
    }
    catch (...) {
        waiting_.pop_back();
        throw;
    }
    waiting_.back().done = std::move(done);
}

// What one turn of the strand asks for goes out together.
void replica_confirmation::begin_soon()
{
    if (busy_)
        return;
    home().post([stays = shared_from_this(), this] { begin(); });
    busy_ = true; // not before: a post without memory for it throws
}

void replica_confirmation::begin()
{
    busy_ = false;
    while (!waiting_.empty() && !busy_) {
        std::shared_ptr<round> next;
        try {
            next = next_round();
        }
        catch (const std::bad_alloc&) {
            // As if it had failed; whoever asked gives back what is not certain.
            question first = std::move(waiting_.front());
            waiting_.pop_front();
            std::move(first.done)("no memory");
            continue;
        }
        if (!is_made()) {
            end(*next, errc::store_unavailable);
            continue;
        }
        busy_ = true;
        send(*next->request, next->adapter(),
             [stays = shared_from_this(), this, next](error_code error, bool) {
                 end(*next, error);
                 begin();
             });
    }
}

std::shared_ptr<replica_confirmation::round> replica_confirmation::next_round()
{
    const auto made = std::make_shared<round>();
    const question& first = waiting_.front();
    const auto fits = [acks = first.acks, timeout = first.timeout](const question& each) {
        return each.acks == acks && each.timeout == timeout;
    };
    made->answers.resize(std::min(waiting_.size(), round_limit) + 2);
    boost::redis::request& to = *made->request;
    for (const question& each : waiting_) {
        if (fits(each) && made->count < round_limit) {
            ask_for(keys_, each.lock(), to);
            ++made->count;
        }
    }
    to.push("SET", marker, "1", "PX", 1'000);
    to.push("WAIT", first.acks, first.timeout.count());
    // From here on nothing throws.
    for (auto i = waiting_.begin(); made->questions.size() < made->count;) {
        const auto each = i++;
        if (fits(*each))
            made->questions.splice(made->questions.end(), waiting_, each);
    }
    return made;
}

void replica_confirmation::end(round& asked, error_code failed)
{
    std::string problem;
    if (failed || asked.answered < asked.count + 2) {
        problem = "the server could not be asked which replicas have the lock";
    }
    else {
        const reply& written = asked.answers[asked.count];
        const reply& confirmed = asked.answers[asked.count + 1];
        for (const reply* each : {&written, &confirmed})
            if (problem.empty())
                problem = each->error;
        const question& first = asked.questions.front();
        const auto acks = static_cast<std::int64_t>(first.acks);
        const std::int64_t got = confirmed.is(1) ? confirmed.numbers.front() : 0;
        if (is_read_only(problem))
            begin_again(errc::store_refused, problem); // another one is the master
        else if (problem.empty() && got < acks)
            problem = std::to_string(got) + " of " + std::to_string(acks) +
                      " replicas confirmed within " + std::to_string(first.timeout.count()) + " ms";
    }
    bool elsewhere = false;
    auto answer = asked.answers.begin();
    for (question& each : asked.questions) {
        const bool missing = problem.empty() && !is_there(keys_, each.lock(), *answer++);
        elsewhere = elsewhere || missing;
        std::move(each.done)(missing ? "the server that names the replicas does not have the lock"
                                     : problem);
    }
    if (elsewhere && listener() != nullptr) {
        begin_again(errc::store_refused, {});
        on_other_server();
    }
}

void replica_confirmation::on_forget() noexcept
{
    const auto last = std::exchange(waiting_,
                                    std::list<question>()); // they may reach back into here
}

} // namespace leasehold::redis_store
