#include "redis/replicas/replica_confirmation.hpp"

#include "base/mutant.hpp"
#include "redis/protocol/redirection.hpp"
#include "redis/protocol/slot.hpp"

#include <boost/redis/adapter/any_adapter.hpp>

#include <algorithm>
#include <utility>

namespace leasehold::redis_store {
namespace {

// The number of slots that are tried for a marker.
constexpr unsigned most_marks = 4;

/// In a cluster, the marker is in a slot that the server has.
/// @param once Makes the name unique if it is not empty. A slot that migrates to the server has a
///   source, and MIGRATE fails if both servers have the same key.
std::string marker_in(const std::string& marker, slot_number slot, std::string_view once)
{
    std::string key = marker + ':';
    key += once;
    key += "{";
    append_short_tag(slot, key);
    key += '}';
    return key;
}

constexpr std::size_t round_limit = 1'000;

const std::string connection_ended = "the connection to the server that said so has ended";

// A connection that waits for WAIT does not answer a health check, and a connection ends when
// nothing arrives for two intervals. No WAIT takes longer than 4 s.
redis_config patient(redis_config settings)
{
    settings.health_check = std::max(settings.health_check, std::chrono::milliseconds(2'500));
    return settings;
}

} // namespace

/// Locks with the same number of replicas and the same limit, requested together.
struct replica_confirmation::round
{
    std::vector<std::shared_ptr<unconfirmed>> locks;
    std::shared_ptr<boost::redis::request> request = make_request();
    /// Of the script, if it was sent along; for each lock; of the marker and of WAIT.
    std::vector<reply> answers;
    std::vector<std::size_t> places; ///< The replies for each lock.
    script_form script = script_form::name;
    slot_number slot = 0; ///< The slot of the marker.
    std::size_t answered = 0;

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

replica_confirmation::replica_confirmation(const redis_config& settings,
                                           const std::shared_ptr<environment>& from)
    : push_connection(patient(settings), from),
      form_{settings.layout, native_keys(settings.prefix)},
      marker_(settings.prefix + "leasehold:confirmation"),
      in_cluster_(settings.kind == redis_config::deployment::cluster),
      patience_(std::min(settings.timeout, 2 * settings.health_check)),
      time_(from->make_time()),
      markers_(detail::seed_of(*time_))
{}

std::shared_ptr<unconfirmed> replica_confirmation::expect(const renewal& held, bool asking)
{
    if (!is_made() && listener() != nullptr)
        connect(); // it is ready when the server has answered, or soon after
    if (expected_.size() >= clean_at_) {
        std::erase_if(expected_, [](const auto& each) { return each.expired(); });
        clean_at_ = std::max<std::size_t>(64, 2 * expected_.size());
    }
    auto made = std::make_shared<unconfirmed>(held, asking);
    expected_.push_back(made);
    return made;
}

void replica_confirmation::confirm(const std::shared_ptr<unconfirmed>& lock,
                                   unconfirmed::handler done)
{
    lock->done = std::move(done);
    waiting_.push_back(lock);
    begin_soon();
}

void replica_confirmation::leaving(std::string_view owner, std::string_view entry) noexcept
{
    for (const auto& each : expected_)
        if (const auto lock = each.lock(); lock && lock->owner == owner && lock->entry == entry)
            lock->left = true;
}

void replica_confirmation::lost_commands()
{
    for (const auto& each : expected_)
        if (const auto lock = each.lock())
            lock->lost = true;
    begin_again(errc::store_unavailable, {});
}

// The requests of one turn of the strand are sent together.
void replica_confirmation::begin_soon()
{
    if (busy_)
        return;
    poster().post([stays = shared_from_this(), this] { begin(); });
    busy_ = true; // not earlier, because the post may throw
}

void replica_confirmation::begin()
{
    busy_ = false;
    refuse_lost();
    while (!waiting_.empty() && !busy_) {
        const auto next = next_round();
        if (!is_made()) {
            end(*next, errc::store_unavailable);
            continue;
        }
        busy_ = true;
        watch_time(*next);
        send(*next->request, next->adapter(),
             [stays = shared_from_this(), this, next](error_code error) {
                 limit_ = clock::time_point::max();
                 end(*next, error);
                 begin();
             });
    }
}

void replica_confirmation::refuse_lost()
{
    const auto last = std::stable_partition(waiting_.begin(), waiting_.end(),
                                            [](const auto& each) { return !each->lost; });
    const std::vector<std::shared_ptr<unconfirmed>> lost(last, waiting_.end());
    waiting_.erase(last, waiting_.end());
    for (const auto& each : lost)
        std::move(each->done)(connection_ended);
}

std::shared_ptr<replica_confirmation::round> replica_confirmation::next_round()
{
    const auto made = std::make_shared<round>();
    const auto first = waiting_.front();
    std::deque<std::shared_ptr<unconfirmed>> others;
    for (auto& each : waiting_) {
        const bool fits = each->acks == first->acks && each->timeout == first->timeout;
        if (fits && made->locks.size() < round_limit)
            made->locks.push_back(std::move(each));
        else
            others.push_back(std::move(each));
    }
    waiting_.swap(others);
    boost::redis::request& to = *made->request;
    made->script = script_;
    if (!in_cluster_ && script_ == script_form::load) {
        // The server may be another than the one that has the scripts.
        to.push("SCRIPT", "LOAD", script_to_extend(form_.layout).text);
    }
    std::size_t answered = to.get_expected_responses();
    for (const auto& each : made->locks) {
        if (each->asking) {
            to.push("ASKING");
            ++answered;
        }
        if (in_cluster_)
            ask_for(form_, each->lock(), to);
        else
            extend(form_, each->lock(), script_ == script_form::inlined, to);
        made->places.push_back(answered++);
    }
    // A server that imports the slot of a lock may have no other slot.
    const auto arriving = std::find_if(made->locks.begin(), made->locks.end(),
                                       [](const auto& each) { return each->asking; });
    made->slot = marked_.value_or(slot_of(first->name));
    std::string once;
    if (arriving != made->locks.end() && marks_refused_ == 0) {
        made->slot = slot_of((*arriving)->name);
        once = std::to_string(++markers_) + ":";
        to.push("ASKING");
        ++answered;
    }
    made->answers.resize(answered + 2);
    const std::string written = in_cluster_ ? marker_in(marker_, made->slot, once) : marker_;
    if (has(mutant::marker_not_written))
        to.push("GET", written);
    else
        to.push("SET", written, "1", "PX", 1'000);
    to.push("WAIT", first->acks, first->timeout.count());
    return made;
}

void replica_confirmation::end(round& sent, error_code failed)
{
    if (!failed && sent.answered == sent.answers.size() &&
        (goes_again(sent) || is_marked_elsewhere(sent)))
        return;
    std::string problem;
    if (failed || sent.answered < sent.answers.size()) {
        problem = "the server could not be asked which replicas have the lock";
    }
    else {
        const reply& written = sent.answers[sent.answers.size() - 2];
        const reply& confirmed = sent.answers.back();
        for (const reply* each : {&written, &confirmed})
            if (problem.empty())
                problem = each->error;
        const unconfirmed& first = *sent.locks.front();
        const auto acks = static_cast<std::int64_t>(first.acks);
        const std::int64_t got = confirmed.is(1) ? confirmed.numbers.front() : 0;
        if (is_read_only(problem))
            begin_again(errc::store_refused, problem); // another one is the master
        else if (problem.empty() && got < acks)
            problem = std::to_string(got) + " of " + std::to_string(acks) +
                      " replicas confirmed within " + std::to_string(first.timeout.count()) + " ms";
    }
    bool elsewhere = false;
    auto place = sent.places.begin();
    for (const auto& each : sent.locks) {
        const reply& answer = sent.answers[*place++];
        const bool missing = problem.empty() &&
                             !(in_cluster_ ? is_there(form_.layout, each->lock(), answer)
                                           : is_extended(answer));
        // A slot that moves has taken the lock with it: the server is the right one for others.
        const bool moved = read_redirection(answer.error).what != redirection::kind::none;
        elsewhere = elsewhere || (missing && !moved && !each->left && !each->lost);
        std::move(each->done)(missing ? "the server that names the replicas does not have the lock"
                              : problem.empty() && each->lost ? connection_ended
                                                              : problem);
    }
    if (elsewhere && listener() != nullptr) {
        begin_again(errc::store_refused, {});
        on_other_server();
    }
}

/// The script was missing: all is sent again, with the script. If it is missing again at once, its
/// text is sent with each lock.
bool replica_confirmation::goes_again(const round& sent)
{
    const auto is_missing = [](const reply& each) { return is_script_missing(each.error); };
    const bool missing = std::any_of(sent.answers.begin(), sent.answers.end(), is_missing);
    if (missing && sent.script != script_form::inlined) {
        script_ = sent.script == script_form::load ? script_form::inlined : script_form::load;
        waiting_.insert(waiting_.begin(), sent.locks.begin(), sent.locks.end());
        return true;
    }
    if (sent.script == script_form::inlined)
        script_ = script_form::load;
    else if (sent.script == script_form::load && sent.answers.front().error.empty())
        script_ = script_form::name;
    return false;
}

/// The server has rejected the marker, because it does not have the slot, or not all of it: all is
/// sent again with another marker.
bool replica_confirmation::is_marked_elsewhere(const round& sent)
{
    const std::string& error = sent.answers[sent.answers.size() - 2].error;
    if (!in_cluster_ || read_redirection(error).what == redirection::kind::none) {
        marks_refused_ = 0;
        return false;
    }
    marked_ = other_slot ? other_slot(sent.slot) : std::nullopt;
    if (++marks_refused_ == most_marks || !marked_ || has(mutant::marker_only_there)) {
        marks_refused_ = 0;
        marked_.reset();
        return false;
    }
    waiting_.insert(waiting_.begin(), sent.locks.begin(), sent.locks.end());
    return true;
}

// The interval of the health check is too long for this.
void replica_confirmation::watch_time(const round& sent)
{
    if (!std::exchange(time_is_open_, true))
        time_->open(strand(), [weak = weak_from_this(), this] {
            if (const auto stays = weak.lock())
                on_time();
        });
    limit_ = time_->now() + patience_ + sent.locks.front()->timeout;
    time_->wake_at(limit_);
}

void replica_confirmation::on_time()
{
    if (listener() == nullptr || limit_ == clock::time_point::max())
        return;
    if (time_->now() < limit_)
        return time_->wake_at(limit_);
    limit_ = clock::time_point::max();
    begin_again(errc::store_unavailable, {}); // which ends the round
}

void replica_confirmation::on_silence() noexcept
{
    if (std::exchange(time_is_open_, false))
        time_->close();
}

void replica_confirmation::on_forget() noexcept
{
    const auto last = std::exchange(waiting_, {}); // handlers may call back into this object
}

} // namespace leasehold::redis_store
