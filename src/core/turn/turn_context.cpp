#include "core/turn/turn_context.hpp"

#include "base/mutant.hpp"

#include <boost/asio/system_executor.hpp>
#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>

#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace leasehold::detail {
namespace {

std::atomic<std::uint64_t> forks{0};

#if defined(__unix__) || defined(__APPLE__)
const int registered = ::pthread_atfork(nullptr, nullptr,
                                        [] { forks.fetch_add(1, std::memory_order_relaxed); });
#endif

// Keeps a turn short, however many timers are due; also the number of renewals that are sent
// together.
constexpr std::size_t most_timers_in_a_turn = 256;

// Of version 8, which is for custom ids. Those of Redisson, and of this library before it had a
// queue in the layout `redisson`, are of version 4. So the id of a holder shows whether it passes
// the lock to the first waiter.
std::string make_id(const time_source& time, fsm::random_source& random)
{
    boost::uuids::uuid id = time.seed()
                                ? boost::uuids::basic_random_generator<fsm::random_source>(random)()
                                : boost::uuids::random_generator()();
    auto& version = *(id.begin() + 6);
    version = static_cast<std::uint8_t>((version & 0x0F) | 0x80);
    return to_string(id);
}

} // namespace

std::uint64_t fork_generation() noexcept
{
#if defined(__unix__) || defined(__APPLE__)
    static_cast<void>(registered);
#endif
    return forks.load(std::memory_order_relaxed);
}

turn_context::turn_context(const asio::any_io_executor& executor, std::shared_ptr<store> backend,
                           std::shared_ptr<observer> watching, std::unique_ptr<time_source> time)
    : random(seed_of(*time)),
      store_(std::move(backend)),
      traits_(store_->traits()),
      strand_(executor),
      executor_(strand_->executor()),
      handler_executor_(strand(executor).executor()),
      inner_executor_(executor),
      observer_(std::move(watching)),
      observer_of_all_(observer_ && !observer_->only_problems() ? observer_.get() : nullptr),
      time_(std::move(time)),
      uuid_(make_id(*time_, random)),
      generation_(fork_generation())
{}

client_stats turn_context::stats() const noexcept
{
    return {.held = counts.held.value(),
            .waiting = counts.waiting.value(),
            .acquired = counts.acquired.value(),
            .handed_off = counts.handed_off.value(),
            .released = counts.released.value(),
            .lost = counts.lost.value(),
            .renewed = counts.renewed.value(),
            .renewals_failed = counts.renewals_failed.value(),
            .acquires_sent = counts.acquires_sent.value(),
            .releases_sent = counts.releases_sent.value(),
            .orphans = counts.orphans.value(),
            .watched = counts.watched.value(),
            .connects = counts.connects.value(),
            .disconnects = counts.disconnects.value()};
}

bool turn_context::gone() const noexcept
{
    return dead_.load(std::memory_order_acquire) || generation_ != fork_generation();
}

owner_id turn_context::make_owner()
{
    char number[24];
    const auto end = std::to_chars(std::begin(number), std::end(number),
                                   has(mutant::owner_reused) ? 1 : ++owners_);
    owner_id made(uuid_);
    made += ':';
    made.append(number, static_cast<std::size_t>(end.ptr - number));
    return made;
}

void turn_context::start_time()
{
    timed_ = true;
    time_->open(executor_, [this] { turn([this] { wake(); }); });
}

void turn_context::stop_time() noexcept
{
    timed_ = false;
    time_->close();
}

void turn_context::forget_strand() noexcept
{
    // Never empty: adapters of tokens query it for properties before the operation can report that
    // there is nothing to do.
    executor_ = handler_executor_ = inner_executor_ = asio::system_executor();
    strand_.reset();
}

void turn_context::wake()
{
    wake_at_ = clock::time_point::max();
    timers.run(turn_time(), most_timers_in_a_turn);
}

void turn_context::end_turn()
{
    if (!gone()) {
        if (cancel_requested.load(std::memory_order_relaxed))
            request(turn_end::client);
        for (end_place& each : ends_)
            if (std::exchange(each.requested, false))
                each.work->at_turn_end();
    }
    in_turn_ = false;
    // An early wake-up costs less than setting the timer anew each time.
    if (!timed_ || timers.next() >= wake_at_)
        return;
    wake_at_ = timers.next();
    time_->wake_at(wake_at_);
}

void turn_context::fail_turn() noexcept
{
    failed_.store(true, std::memory_order_relaxed);
    in_turn_ = true; // objects that are destroyed now may use handles
    if (!gone())
        on_turn_failed();
    in_turn_ = false;
}

} // namespace leasehold::detail
