#ifndef LEASEHOLD_SRC_REDIS_PIPELINE_PIPELINE_HPP
#define LEASEHOLD_SRC_REDIS_PIPELINE_PIPELINE_HPP

#include "base/server_clock.hpp"
#include "core/async/context_lifetime.hpp"
#include "core/turn/time_source.hpp"
#include "redis/commands/command_set.hpp"
#include "redis/pipeline/batch.hpp"
#include "redis/pipeline/client_note.hpp"
#include "redis/pipeline/server_session.hpp"
#include "redis/pipeline/transport.hpp"

#include <leasehold/store.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::redis_store {

/// Turns requests into commands, and answers into replies. The requests of one turn of the strand
/// form a batch; batches are sent in order, and each request completes with its reply. All on the
/// strand.
class pipeline final : public batch_owner,
                       public transport_observer,
                       public detail::context_observer,
                       public std::enable_shared_from_this<pipeline>
{
public:
    pipeline(std::shared_ptr<transport> way, std::unique_ptr<command_set> keys,
             std::unique_ptr<detail::time_source> time, std::chrono::milliseconds timeout);

    void open(const asio::any_io_executor& strand,
              const std::shared_ptr<detail::context_poster>& poster, store_listener& listener);
    void close() noexcept;

    /// The address of the server, for diagnostics.
    [[nodiscard]] std::string server() const
    {
        return transport_ ? transport_->server() : std::string();
    }

    /// The traits of its commands.
    [[nodiscard]] store_traits traits() const noexcept { return commands_->traits(); }

    /// True if the waiters of other processes can be counted. Called for each release.
    std::function<bool()> knows_receivers;

    /// The connection to the server has ended. Set before `open`.
    std::function<void()> on_lost;

    /// A server accepts requests; it may be another server than before. Set before `open`.
    std::function<void()> on_serving;

    /// Ends the connection for this reason, and connects again.
    void begin_again(error_code why, std::string_view words = {})
    {
        if (transport_)
            transport_->begin_again(why, words);
    }

    // `asking`: the slot migrates to this node of a cluster, which is asked to serve it.
    void acquire(const acquire_request& request, store::acquire_handler handler,
                 bool asking = false);
    void renew(std::span<const renewal> renewals, store::renew_handler handler,
               bool asking = false);
    void release(const release_request& request, store::release_handler handler,
                 bool asking = false);

    /// Sends a call that is no request of a store. `write(request, latest)` appends it to the
    /// request and returns it; the answer is a list of numbers. `latest` is the server's time, in
    /// microseconds, at the end of `budget`; 0: unknown.
    template <class Write>
    void ask(std::string_view key, std::chrono::milliseconds budget, Write write,
             asker::answered handler)
    {
        if (!open_for_requests())
            return reject(std::move(handler), std::span<const std::int64_t>(),
                          session_.why_down(key));
        const std::int64_t latest = time_.limit(local_time_->now(), budget);
        next().add(asker{std::move(handler)},
                   [&](boost::redis::request& to) { return write(to, latest); });
        flush_first();
    }

    /// Sends a call beside the requests of a store; `write(request)` as above. The handler gets the
    /// server's errors as answers, and the listener is not called for them.
    template <class Write>
    void ask_aside(Write write, aside::answered handler)
    {
        if (!open_for_requests())
            return reject(std::move(handler), answers());
        add_aside(write, std::move(handler));
        flush_first();
    }

    /// Sets the record of this client. Before `open`.
    void introduce(std::shared_ptr<client_note> note) { note_ = std::move(note); }

    /// The time at the server, in microseconds; 0: unknown.
    [[nodiscard]] std::int64_t server_time() const noexcept
    {
        return time_.limit(local_time_->now(), {});
    }
    /// The time at this client.
    [[nodiscard]] clock::time_point now() const noexcept { return local_time_->now(); }
    void learn_time(std::int64_t server_us) noexcept { time_.learn(server_us, local_time_->now()); }

private:
    friend server_session;
    using batch_ptr = std::shared_ptr<batch>;
    using details_ptr = std::shared_ptr<const diagnostics>;
    static constexpr unsigned attempts_limit = 3;

    void on_up(std::optional<std::int64_t> server_us) override;
    void on_down(error_code why, std::string_view words) override
    {
        session_.on_down(why, words);
        fail_waiting();
    }
    void on_answers(const batch_ptr& sent) override;
    void on_end(const batch_ptr& sent, error_code unanswered) override;
    void on_context_end() noexcept override;
    void on_fork() noexcept override;

    bool open_for_requests() const noexcept { return session_.up && transport_ != nullptr; }
    /// The connection is established; the handshake may not be complete.
    bool can_send() const noexcept { return session_.connected && transport_ != nullptr; }

    /// Completes a request that cannot be sent; never inside the call.
    template <class Handler, class... Reply>
    void reject(Handler handler, Reply... reply)
    {
        if (poster_)
            poster_->post([handler = std::move(handler), code = session_.reason(),
                           ... reply = std::move(reply)]() mutable {
                std::move(handler)(code, std::move(reply)...);
            });
    }
    template <class Reply>
    Reply why_down(Reply reply, std::string_view key) const
    {
        reply.details = session_.why_down(key);
        return reply;
    }
    template <class Write>
    void add_aside(Write write, aside::answered handler)
    {
        next().add(aside{std::move(handler)}, write);
    }

    batch& next();
    [[nodiscard]] bool sends_later() const noexcept { return !under_way_.empty() || flush_posted_; }
    void flush_first();
    void flush_soon();
    void flush();
    void give_up(const batch_ptr& unsent) noexcept;
    void fail(batch& unsent, error_code code);
    void fail(release_group& unwritten, error_code code);
    void fail_waiting();
    void forget_waiting() noexcept;
    void watch_time();
    void on_time();

    void complete_until(const batch_ptr& last);
    void finish(batch& from, command& one, error_code unanswered);
    void answer(command& one, store::acquire_handler& handler, error_code code, details_ptr more);
    void answer(command& one, store::release_handler& handler, error_code code, details_ptr more);
    void answer(command& one, renew_part& part, error_code code, details_ptr more);
    void answer(command& one, grouped& waiting, error_code code, const details_ptr& more);
    static void answer(command& one, asker& caller, error_code code, details_ptr more)
    {
        caller.complete(one, code, std::move(more));
    }
    static void answer(command& one, aside& caller, error_code code, const details_ptr&)
    {
        caller.complete(one, code);
    }
    static void answer(command&, draw&, error_code, const details_ptr&) {}
    [[nodiscard]] parsed<release_reply> released(const command& one);
    void count_receivers(release_reply& reply) const
    {
        if (reply.result == release_reply::outcome::freed && knows_receivers && !knows_receivers())
            reply.receivers_known = false;
    }
    void complete(release_group& group, std::size_t index, error_code code, release_reply reply,
                  const details_ptr& more);
    [[nodiscard]] bool leave(release_group& group, std::size_t index,
                             const std::optional<release_reply>& first);
    /// A release may have been executed before the acquire of the same lock: the acquire was sent
    /// again after it.
    [[nodiscard]] bool overtook(std::string_view key) const
    {
        const auto has_it = [key](const batch_ptr& each) { return each->has_put_behind(key); };
        return put_behind_ != 0 && (std::any_of(under_way_.begin(), under_way_.end(), has_it) ||
                                    std::any_of(waiting_.begin(), waiting_.end(), has_it));
    }
    [[nodiscard]] bool can_repeat(const command& one) const noexcept
    {
        return can_send() && one.attempts < attempts_limit;
    }
    [[nodiscard]] bool send_behind(batch& from, command& one, bool repeats);

    std::shared_ptr<transport> transport_;     ///< Null after `close`.
    std::shared_ptr<request_channel> channel_; ///< Of the transport, if it has one.
    const std::unique_ptr<command_set> commands_;
    const std::chrono::milliseconds timeout_;
    std::shared_ptr<detail::context_poster> poster_;
    const std::unique_ptr<detail::time_source> local_time_;
    bool timer_runs_ = false;
    bool flush_posted_ = false;
    server_session session_;
    detail::server_clock time_;
    std::deque<batch_ptr> waiting_;
    std::vector<batch_ptr> under_way_;
    std::vector<batch_ptr> spare_;
    std::size_t put_behind_ = 0;        ///< Commands sent by `send_behind` without an answer.
    std::shared_ptr<client_note> note_; ///< The record of this client. Null: none for this server.
};

} // namespace leasehold::redis_store

#endif
