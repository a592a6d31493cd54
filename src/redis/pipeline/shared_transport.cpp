#include "redis/pipeline/shared_transport.hpp"

#include "base/mutant.hpp"
#include "redis/connection/readiness_check.hpp"
#include "redis/connection/reconnect_pause.hpp"
#include "redis/pipeline/batch.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace leasehold::redis_store {
namespace {

/// The connection, and the poster to its executor. Only that executor may use the connection.
class other_side final : public detail::context_observer
{
public:
    other_side(std::shared_ptr<request_channel> connection, const asio::any_io_executor& executor)
        : connection_(std::move(connection)), way_(detail::context_poster::make(executor))
    {}

    /// Calls `function(connection)` on that executor. Returns false if its context has ended.
    template <class Function>
    bool post(const std::shared_ptr<other_side>& self, Function function)
    {
        return way_->post([self, function = std::move(function)]() mutable {
            if (self->connection_)
                function(*self->connection_);
        });
    }

    // The executor invokes no more handlers, and the connection must not outlive its context.
    void on_context_end() noexcept override
    {
        way_->on_context_end();
        connection_.reset();
    }

private:
    std::shared_ptr<request_channel> connection_;
    std::shared_ptr<detail::context_poster> way_;
};

/// Delivers the result of a request to the strand, `poster`, by a call of `Notify(error_code, bool
/// written)`. It does so even if its handler is destroyed without a call, because the context of
/// the connection ended.
template <class Notify>
class report
{
public:
    report(std::shared_ptr<detail::context_poster> poster, Notify notify)
        : poster_(std::move(poster)), notify_(std::move(notify))
    {}
    report(report&& other) noexcept
        : poster_(std::exchange(other.poster_, nullptr)), notify_(std::move(other.notify_))
    {}
    report& operator=(report&&) = delete;
    ~report()
    {
        if (poster_)
            (*this)(asio::error::operation_aborted, true);
    }

    void operator()(error_code error, bool written)
    {
        const auto way = std::exchange(poster_, nullptr);
        way->post(
            [notify = std::move(notify_), error, written]() mutable { notify(error, written); });
    }

private:
    std::shared_ptr<detail::context_poster> poster_;
    Notify notify_;
};

class shared_transport final : public transport,
                               public std::enable_shared_from_this<shared_transport>
{
public:
    shared_transport(std::shared_ptr<request_channel> connection,
                     const asio::any_io_executor& executor, const redis_config& settings,
                     std::unique_ptr<detail::time_source> time)
        : pause_(settings.reconnect),
          prefix_(settings.prefix),
          there_(std::make_shared<other_side>(std::move(connection), executor)),
          time_(std::move(time)),
          random_(detail::seed_of(*time_))
    {
        asio::use_service<detail::context_lifetime>(asio::query(executor, asio::execution::context))
            .add(there_);
    }

    void open(const asio::any_io_executor& strand,
              const std::shared_ptr<detail::context_poster>& poster, const script_set& needed,
              transport_observer& user) override
    {
        needed_ = &needed;
        poster_ = poster;
        observer_ = &user;
        time_->open(strand, [weak = weak_from_this()] {
            if (const auto self = weak.lock())
                self->ask();
        });
        ask();
    }

    void close() noexcept override
    {
        observer_ = nullptr;
        // Outstanding requests own this, perhaps until after the end of the strand's context.
        time_->close();
        if (const auto check = std::exchange(check_, nullptr))
            there_->post(there_,
                         [check](auto&) { check->cancel.emit(asio::cancellation_type::terminal); });
        for (const auto& each : std::exchange(under_way_, {}))
            abandon(each);
    }

    void drop() noexcept override
    {
        observer_ = nullptr;
        time_->close();
        check_.reset();
        under_way_.clear();
    }

    void send(const std::shared_ptr<batch>& sent) override
    {
        under_way_.push_back(sent);
        report end(poster_, [self = shared_from_this(), sent](error_code error, bool written) {
            self->on_end(sent, error, written);
        });
        const bool posted = there_->post(
            there_, [sent, done = std::move(end)](request_channel& connection) mutable {
                execute(connection, sent->request, sent->adapter(), sent->abandon.slot(),
                        std::move(done));
            });
        static_cast<void>(posted); // on failure, the destroyed report delivers the error
    }

    void begin_again(error_code why, std::string_view text) override
    {
        if (observer_ == nullptr)
            return;
        observer_->on_down(why, text);
        time_->wake_at(time_->now() + reconnect_pause(pause_, random_));
    }

    std::string server() const override { return "the connection of the application"; }

    void abandon(const std::shared_ptr<batch>& sent) override
    {
        there_->post(there_,
                     [sent](auto&) { sent->abandon.emit(asio::cancellation_type::terminal); });
    }

private:
    void on_end(const std::shared_ptr<batch>& sent, error_code error, bool written)
    {
        std::erase(under_way_, sent);
        if (error && observer_ != nullptr) {
            observer_->on_down(errc::store_unavailable);
            ask();
        }
        error_code unanswered;
        if (error)
            unanswered = written ? errc::outcome_unknown : errc::store_unavailable;
        const auto owner = sent->owner;
        if (owner)
            owner->on_end(sent, unanswered);
    }

    // The check waits in the connection until it is established. Its answer shows that it is.
    void ask()
    {
        if (check_ || observer_ == nullptr)
            return;
        check_ = std::make_shared<readiness_check>(*needed_, false, prefix_);
        report end(poster_, [self = shared_from_this(), check = check_](error_code error, bool) {
            self->on_answer(check, error);
        });
        there_->post(there_,
                     [check = check_, done = std::move(end)](request_channel& connection) mutable {
                         execute(connection, check->request(), check->adapter(),
                                 check->cancel.slot(), std::move(done));
                     });
    }

    void on_answer(const std::shared_ptr<readiness_check>& check, error_code error)
    {
        if (observer_ == nullptr)
            return;
        check_.reset();
        const auto found = error ? readiness_check::verdict{errc::store_unavailable, {}}
                                 : check->result();
        if (!found.code)
            return observer_->on_up(check->server_us());
        observer_->on_down(found.code, found.text);
        if (has(mutant::readiness_not_repeated))
            return;
        time_->wake_at(time_->now() + reconnect_pause(pause_, random_));
    }

    const std::chrono::milliseconds pause_;
    const std::string prefix_;
    const std::shared_ptr<other_side> there_;
    std::shared_ptr<detail::context_poster> poster_;
    const script_set* needed_ = nullptr;
    transport_observer* observer_ = nullptr;
    const std::unique_ptr<detail::time_source> time_;
    fsm::random_source random_;
    std::shared_ptr<readiness_check> check_;
    std::vector<std::shared_ptr<batch>> under_way_;
};

} // namespace

std::shared_ptr<transport> make_shared_transport(std::shared_ptr<request_channel> connection,
                                                 const asio::any_io_executor& executor,
                                                 const redis_config& settings,
                                                 std::unique_ptr<detail::time_source> time)
{
    return std::make_shared<shared_transport>(std::move(connection), executor, settings,
                                              std::move(time));
}

} // namespace leasehold::redis_store
