#ifndef LEASEHOLD_SRC_REDIS_PIPELINE_PIPELINE_HPP
#define LEASEHOLD_SRC_REDIS_PIPELINE_PIPELINE_HPP

#include "core/async/context_lifetime.hpp"
#include "core/turn/time_source.hpp"
#include "redis/commands/command_set.hpp"
#include "redis/pipeline/batch.hpp"
#include "redis/pipeline/client_note.hpp"
#include "redis/pipeline/transport.hpp"
#include "redis/protocol/server_clock.hpp"

#include <leasehold/store.hpp>

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

/// Turns requests into commands and answers into replies: collects what one turn of the strand
/// brings into batches, sends them one after the other, and says of each what became of it. All on
/// the strand.
class pipeline final : public batch_owner,
                       public transport_observer,
                       public detail::context_observer,
                       public std::enable_shared_from_this<pipeline>
{
public:
    pipeline(std::shared_ptr<transport> way, std::unique_ptr<command_set> keys,
             std::unique_ptr<detail::time_source> time, std::chrono::milliseconds timeout);

    void open(const asio::any_io_executor& strand,
              const std::shared_ptr<detail::context_poster>& home, store_listener& listener);
    void close() noexcept;

    /// Where it leads to, for diagnostics.
    [[nodiscard]] std::string server() const
    {
        return transport_ ? transport_->server() : std::string();
    }

    /// The traits of its commands.
    [[nodiscard]] store_traits traits() const noexcept { return commands_->traits(); }

    /// Whether those who wait in other processes can be counted; to be asked with each release.
    std::function<bool()> knows_receivers;

    /// The connection to the server that was there has ended. Set before `open`.
    std::function<void()> on_lost;

    /// A server can be asked, which may be another than before. Set before `open`.
    std::function<void()> on_serving;

    /// The server is not the one to be asked any more: looks for it again.
    void begin_again(error_code why);

    // `asking`: the node of a cluster is to serve a slot that is on its way to it.
    void acquire(const acquire_request& request, store::acquire_handler handler,
                 bool asking = false);
    void renew(std::span<const renewal> renewals, store::renew_handler handler,
               bool asking = false);
    void release(const release_request& request, store::release_handler handler,
                 bool asking = false);

    /// What is no request of a store. `write(request, latest)` puts the call at the end of the
    /// request that it is given, and returns it; it answers with numbers. `latest` is the server's
    /// time in microseconds when `budget` is over; 0: not known.
    template <class Write>
    void ask(std::string_view key, std::chrono::milliseconds budget, Write write,
             asker::answered handler)
    {
        if (!open_for_requests())
            return refuse(std::move(handler), key);
        const std::int64_t latest = time_.limit(local_time_->now(), budget);
        next().add(asker{std::move(handler)},
                   [&](boost::redis::request& to) { return write(to, latest); });
        flush_first();
    }

    /// Beside the requests of a store; `write(request)` as above. Of a command that was refused the
    /// answer is an error, and the listener is not told.
    template <class Write>
    void ask_aside(Write write, aside::answered handler)
    {
        if (!open_for_requests())
            return refuse(std::move(handler));
        next().add(aside{std::move(handler)}, write);
        flush_first();
    }

    /// Says who this client is. Before `open`.
    void introduce(std::shared_ptr<client_note> note) { note_ = std::move(note); }

    /// Asks who another is. The handler is never called inside the call.
    void describe(std::string_view holder, store::describe_handler handler);

    /// What the server's clock shows now, in microseconds; 0: not known.
    [[nodiscard]] std::int64_t server_time() const noexcept
    {
        return time_.limit(local_time_->now(), {});
    }
    /// What this client's shows.
    [[nodiscard]] clock::time_point now() const noexcept { return local_time_->now(); }
    void learn_time(std::int64_t server_us) noexcept { time_.learn(server_us, local_time_->now()); }

private:
    using batch_ptr = std::shared_ptr<batch>;

    void on_up(std::optional<std::int64_t> server_us) override;
    void on_down(error_code why, std::string_view said) override;
    void on_answers(const batch_ptr& sent) override;
    void on_end(const batch_ptr& sent, error_code unanswered) override;
    void on_context_end() noexcept override;
    void on_fork() noexcept override;

    bool open_for_requests() const noexcept { return up_ && transport_ != nullptr; }
    /// A server is there, which may have to be greeted first.
    bool can_send() const noexcept { return connected_ && transport_ != nullptr; }
    template <class Handler, class Reply>
    void refuse(Handler handler, Reply reply, std::string_view key = {});
    void refuse(asker::answered handler, std::string_view key);
    void refuse(aside::answered handler);
    void add_note(batch& to);
    using details_ptr = std::shared_ptr<const diagnostics>;
    std::shared_ptr<diagnostics> details(std::string_view key, std::string_view said) const;
    details_ptr down_details(std::string_view key) const;
    details_ptr explain(const batch& from, const command& asked, error_code code);

    batch& next();
    void flush_first();
    void flush_soon();
    void flush();
    void give_up(const batch_ptr& unsent) noexcept;
    void fail_waiting();
    void forget_waiting() noexcept;
    void watch_time();
    void on_time();

    void pass_on_until(const batch_ptr& last);
    void finish(batch& from, command& asked, error_code unanswered);
    void answer(command& asked, store::acquire_handler& handler, error_code code, details_ptr more);
    void answer(command& asked, store::release_handler& handler, error_code code, details_ptr more);
    void answer(command& asked, renew_part& part, error_code code, details_ptr more);
    void answer(command& asked, asker& who, error_code code, details_ptr more);
    void answer(command& asked, greeting& what, error_code code, const details_ptr&);
    void answer(command& asked, draw& drawn, error_code code, const details_ptr&);
    void answer(command& asked, aside& who, error_code code, const details_ptr&);
    void greet();
    void serve();
    [[nodiscard]] said<release_reply> released(const command& asked);
    [[nodiscard]] bool overtook(const batch& from, const command& asked) const;
    void keep_answer(command& asked);
    [[nodiscard]] bool can_repeat(const command& asked) const noexcept;
    [[nodiscard]] bool again(batch& from, command& asked);
    [[nodiscard]] bool go_on(batch& from, command& asked);
    template <class Add>
    bool behind(Add add);

    std::shared_ptr<transport> transport_;     ///< Null after `close`.
    std::shared_ptr<request_channel> channel_; ///< Of the transport, if it has one.
    const std::unique_ptr<command_set> commands_;
    const std::chrono::milliseconds timeout_;
    std::shared_ptr<detail::context_poster> home_;
    store_listener* listener_ = nullptr;
    const std::unique_ptr<detail::time_source> local_time_;
    bool timer_runs_ = false;
    bool flush_posted_ = false;
    bool connected_ = false;
    bool up_ = false;
    error_code down_reason_;         ///< What a request is told while the link is down.
    std::string down_words_;         ///< About it: the server's, or why there is no connection.
    error_code told_reason_;         ///< What the listener was told last.
    std::string told_words_;         ///< With it.
    std::size_t greetings_left_ = 0; ///< Of those to the server that is there.
    unsigned greeted_ = 0;           ///< How many servers were.
    server_clock time_;
    std::deque<batch_ptr> waiting_;
    std::vector<batch_ptr> under_way_;
    std::vector<batch_ptr> spare_;
    std::size_t put_behind_ = 0;        ///< Such commands that are not answered yet.
    std::shared_ptr<client_note> note_; ///< Null: there is none, or it is not for this server.
    bool tells_holder_ = true;          ///< This server, to this user, as far as is known.
};

} // namespace leasehold::redis_store

#endif
