#include "redis/redlock/redis_member.hpp"

#include "base/server_clock.hpp"
#include "redis/commands/answers.hpp"
#include "redis/pipeline/client_note.hpp"
#include "redis/pipeline/owned_transport.hpp"
#include "redis/pipeline/pipeline.hpp"
#include "redis/protocol/command_words.hpp"
#include "redis/redlock/member_commands.hpp"
#include "redis/redlock/published_releases.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace leasehold::quorum {
namespace {

using numbers = std::span<const std::int64_t>;
using redis_store::call;
using redis_store::of_quorum;
using redis_store::push_command;

// One renewal command blocks the server for some 100 microseconds at most.
constexpr std::size_t renewals_per_command = 50;

std::uint64_t natural(std::int64_t value) noexcept
{
    return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
}

ballot_reply read_ballot(numbers fields, bool asked_holder)
{
    using outcome = ballot_reply::outcome;
    ballot_reply reply;
    reply.largest = natural(fields[1]);
    switch (fields[0]) {
    case 1: reply.result = outcome::accepted; break;
    case 2: reply.result = outcome::outbid; break;
    case 0:
        reply.result = outcome::held;
        reply.remaining = redis_store::time_left(fields[2]);
        if (asked_holder && fields[3] != 0)
            reply.details = redis_store::held_by(fields[3]);
        break;
    case -1: reply.result = outcome::late; break;
    case -4:
        reply.result = outcome::silent;
        reply.remaining = redis_store::time_left(fields[2]);
        break;
    case -5:
        reply.result = outcome::older_epoch;
        reply.epoch = natural(fields[2]);
        break;
    case -6: reply.result = outcome::too_far; break;
    default: reply.result = outcome::blank;
    }
    return reply;
}

class redis_member final : public member, private store_listener
{
public:
    redis_member(const redis_config& settings,
                 const std::shared_ptr<redis_store::environment>& from)
        : retention_(settings.fence_retention),
          prefix_(settings.prefix),
          pipeline_(std::make_shared<redis_store::pipeline>(
              redis_store::make_owned_transport(settings, from),
              std::make_unique<member_commands>(), from->make_time(), settings.timeout)),
          published_releases_(std::make_shared<published_releases>(settings, from)),
          note_(redis_store::client_note::make(settings, *from))
    {
        pipeline_->introduce(note_);
    }

    ~redis_member() override { close(); }

    [[nodiscard]] std::string server() const override { return pipeline_->server(); }
    [[nodiscard]] std::int64_t time() const override { return pipeline_->server_time(); }

    void open(const asio::any_io_executor& strand, member_listener& listener,
              unsigned number) override
    {
        listener_ = &listener;
        number_ = number;
        const auto poster = detail::context_poster::make(strand);
        published_releases_->notify(listener, number);
        published_releases_->open(strand, poster, *this);
        pipeline_->open(strand, poster, *this);
    }

    void close() final
    {
        pipeline_->close();
        published_releases_->close();
    }

    void async_vote(const ballot& request, handler<ballot_reply> done) override
    {
        if (note_)
            note_->goes_with(request.owner, {}, request.lease);
        ask(
            request.name, request.budget,
            [&](boost::redis::request& to, std::int64_t latest) {
                push_command(to, "EVALSHA", of_quorum().acquire.sha, 3, request.name,
                             keys_.fence(request.name), keys_.record(), value_of(request.owner),
                             request.lease.count(), request.first_fence, request.fences, latest,
                             request.epoch, retention_.count(), request.only_ours ? 1 : 0,
                             request.needs_holder ? 1 : 0);
                return call{
                    .called = &of_quorum().acquire, .expects = 5, .takes = !request.only_ours};
            },
            std::move(done),
            [holder = request.needs_holder](numbers fields) {
                return std::optional(read_ballot(fields, holder));
            });
    }

    void async_reenter(const reentry& request, handler<reentered> done) override
    {
        if (note_)
            note_->goes_with(request.owner, request.entry, request.lease);
        ask(
            request.name, request.budget,
            [&](boost::redis::request& to, std::int64_t latest) {
                push_command(to, "EVALSHA", of_quorum().reenter.sha, 3, request.name,
                             keys_.entries(request.name), keys_.record(), value_of(request.owner),
                             request.lease.count(), latest, request.entry);
                return call{.called = &of_quorum().reenter, .expects = 2, .takes = true};
            },
            std::move(done),
            [](numbers fields) -> std::optional<reentered> {
                switch (fields[0]) {
                case 1: return reentered::yes;
                case -1: return reentered::late;
                case -2: return reentered::gone;
                default: return std::nullopt;
                }
            });
    }

    void async_renew(std::span<const upkeep> renewals, std::chrono::milliseconds budget,
                     asio::any_completion_handler<void(std::vector<kept>)> done) override
    {
        struct job
        {
            asio::any_completion_handler<void(std::vector<kept>)> done;
            std::vector<kept> results;
            std::size_t outstanding = 0;
        };
        if (note_) {
            // A member that could not be reached at the acquire has no record of the client.
            for (const upkeep& each : renewals)
                note_->goes_with(each.what.owner, each.what.entry, each.what.lease);
        }
        const auto whole = std::make_shared<job>();
        whole->done = std::move(done);
        whole->results.resize(renewals.size(), kept::failed);
        for (std::size_t first = 0; first < renewals.size(); first += renewals_per_command) {
            const auto part = renewals.subspan(
                first, std::min(renewals_per_command, renewals.size() - first));
            ++whole->outstanding;
            pipeline_->ask(
                part.front().what.name, budget,
                [&](boost::redis::request& to, std::int64_t latest) {
                    return write_renewals(part, latest, to);
                },
                [whole, first](error_code failed, numbers fields, const details_ptr&) {
                    for (std::size_t i = 0; !failed && i < fields.size(); ++i)
                        whole->results[first + i] = fields[i] == 1   ? kept::yes
                                                    : fields[i] == 0 ? kept::gone
                                                    : fields[i] == 2 ? kept::free
                                                                     : kept::failed;
                    if (--whole->outstanding == 0)
                        std::move(whole->done)(std::move(whole->results));
                });
        }
    }

    void async_release(const release_request& request, bool quiet,
                       handler<release_answer> done) override
    {
        ask(
            request.name, {},
            [&](boost::redis::request& to, std::int64_t) {
                push_command(to, "EVALSHA", of_quorum().release.sha, 3, request.name,
                             keys_.entries(request.name), keys_.fence(request.name),
                             value_of(request.owner), request.entry,
                             quiet ? std::string() : keys_.releases(request.name));
                return call{.called = &of_quorum().release, .expects = 3, .undoes = true};
            },
            std::move(done),
            [](numbers fields) -> std::optional<release_answer> {
                using outcome = release_reply::outcome;
                if (fields[0] < 0 || fields[0] > 2)
                    return std::nullopt;
                constexpr outcome meanings[] = {outcome::not_owner, outcome::freed,
                                                outcome::still_held};
                return release_answer{meanings[fields[0]], fields[1], natural(fields[2])};
            },
            false);
    }

    void async_inspect(std::uint64_t nonce, handler<inspect_answer> done) override
    {
        ask(
            keys_.record(), {},
            [&](boost::redis::request& to, std::int64_t) {
                push_command(to, "EVALSHA", of_quorum().inspect.sha, 1, keys_.record(), nonce);
                return call{.called = &of_quorum().inspect, .expects = 8};
            },
            std::move(done),
            [](numbers fields) {
                return std::optional(
                    inspect_answer{fields[0] == 1, natural(fields[1]), natural(fields[2]),
                                   redis_store::time_left(fields[3]), natural(fields[4]),
                                   redis_store::time_left(fields[5]), natural(fields[6])});
            });
    }

    void async_adopt(std::uint64_t epoch, handler<adopt_answer> done) override
    {
        ask(
            keys_.record(), {},
            [&](boost::redis::request& to, std::int64_t) {
                push_command(to, "EVALSHA", of_quorum().adopt.sha, 1, keys_.record(), epoch);
                return call{.called = &of_quorum().adopt, .expects = 5};
            },
            std::move(done),
            [](numbers fields) {
                return std::optional(adopt_answer{fields[0] == 1, natural(fields[1]),
                                                  natural(fields[2]),
                                                  redis_store::time_left(fields[3])});
            });
    }

    void async_seed(const seed& request, handler<seed_answer> done) override
    {
        ask(
            keys_.record(), {},
            [&](boost::redis::request& to, std::int64_t) {
                push_command(to, "EVALSHA", of_quorum().seed.sha, 1, keys_.record(), request.nonce,
                             request.epoch, request.floor, request.silence.count(),
                             request.lease.count(), request.began);
                return call{.called = &of_quorum().seed, .expects = 3};
            },
            std::move(done),
            [](numbers fields) {
                return std::optional(seed_answer{fields[0] == 1 || fields[0] == 2,
                                                 redis_store::time_left(fields[1])});
            });
    }

    void async_describe(std::string_view holder, store::describe_handler done) override
    {
        redis_store::read_note(*pipeline_, {prefix_, holder}, std::move(done));
    }

    [[nodiscard]] client_info own_info() const override
    {
        return note_ ? note_->info() : client_info();
    }

    void watch(std::string_view name) override { published_releases_->watch(name); }
    void unwatch(std::string_view name) override { published_releases_->unwatch(name); }

private:
    /// @param read  Makes the reply of the numbers; nothing: they are no valid reply.
    /// @param timed The last of them is the server's time.
    template <class Reply, class Write, class Read>
    void ask(std::string_view key, std::chrono::milliseconds budget, Write write,
             handler<Reply> done, Read read, bool timed = true)
    {
        pipeline_->ask(key, budget, write,
                       [done = std::move(done), read, timed, way = pipeline_](
                           error_code failed, numbers fields, details_ptr details) mutable {
                           std::optional<Reply> reply;
                           if (!failed) {
                               reply = read(fields);
                               if (!reply)
                                   failed = errc::outcome_unknown;
                               else if (timed && detail::is_server_time(fields.back()))
                                   way->learn_time(fields.back());
                           }
                           if constexpr (requires(Reply r) { r.details; }) {
                               if (failed) {
                                   reply.emplace();
                                   reply->details = std::move(details);
                               }
                           }
                           std::move(done)(failed, reply ? std::move(*reply) : Reply{});
                       });
    }

    call write_renewals(std::span<const upkeep> renewals, std::int64_t latest,
                        boost::redis::request& to) const
    {
        redis_store::command_words words;
        words.add(of_quorum().renew.sha);
        words.add(static_cast<std::int64_t>(2 * renewals.size()));
        for (const upkeep& each : renewals) {
            words.add(each.what.name);
            words.write([&](std::string& text) { text += keys_.entries(each.what.name); });
        }
        words.add(latest);
        for (const upkeep& each : renewals) {
            words.write([&](std::string& text) { text += value_of(each.what.owner); });
            words.add(each.what.lease.count());
            words.add(each.what.entry);
            words.add(each.create ? "1" : "0");
        }
        words.push("EVALSHA", to);
        // A release undoes what it creates.
        const bool creates = std::any_of(renewals.begin(), renewals.end(),
                                         [](const upkeep& each) { return each.create; });
        return {.called = &of_quorum().renew, .expects = renewals.size(), .takes = creates};
    }

    void on_wakeup(std::string_view) override {}
    void on_connected(store_partition) override { listener_->on_reachable(number_); }
    void on_disconnected(store_partition, error_code why) override
    {
        listener_->on_unreachable(number_, why, why == last_error_ ? last_details_ : nullptr);
    }
    void on_error(store_partition, error_code code, const diagnostics& details) override
    {
        last_error_ = code;
        last_details_ = std::make_shared<diagnostics>(details);
        listener_->on_member_error(number_, code, details);
    }

    const std::chrono::milliseconds retention_;
    const std::string prefix_;
    const member_keys keys_{prefix_};
    const std::shared_ptr<redis_store::pipeline> pipeline_;
    const std::shared_ptr<published_releases> published_releases_;
    const std::shared_ptr<redis_store::client_note> note_; ///< Null: no record is written.
    member_listener* listener_ = nullptr;
    unsigned number_ = 0;
    error_code last_error_;
    details_ptr last_details_;
};

} // namespace

std::unique_ptr<member> make_redis_member(const redis_config& settings,
                                          const std::shared_ptr<redis_store::environment>& from)
{
    return std::make_unique<redis_member>(settings, from);
}

} // namespace leasehold::quorum
