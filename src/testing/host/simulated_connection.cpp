#include "testing/host/simulated_connection.hpp"

#include "core/async/posting_executor.hpp"
#include "redis/commands/native_keys.hpp"
#include "redis/connection/boost_redis_parts.hpp"
#include "redis/protocol/key_names.hpp"
#include "redis/protocol/redirection.hpp"
#include "redis/redlock/member_commands.hpp"
#include "testing/host/tcp_stream.hpp"

#include <boost/asio/error.hpp>
#include <boost/redis/config.hpp>
#include <boost/redis/error.hpp>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::testing::impl {
namespace {

using boost::redis::any_adapter;

bool is_error(const boost::redis::resp3::node_view& node)
{
    using boost::redis::resp3::type;
    return node.data_type == type::simple_error || node.data_type == type::blob_error;
}

bool is_redirection(std::string_view error)
{
    using redis_store::redirection;
    return redis_store::read_redirection(error).what != redirection::kind::none;
}

/// Empty: it is another channel.
std::string_view client_listening_at(std::string_view channel)
{
    std::string prefix;
    redis_store::native_keys().grants({}, prefix);
    if (!channel.starts_with(prefix))
        return {};
    channel.remove_prefix(prefix.size());
    // In a cluster there is a tag before it.
    return channel.substr(channel.starts_with('{') ? channel.find("}:") + 2 : 0);
}

} // namespace

class simulated_connection::state final : public near_end,
                                          public connection_end,
                                          public std::enable_shared_from_this<state>
{
public:
    state(host_state& on, server_state& to, const asio::any_io_executor& strand, complaint complain)
        : host_(on),
          server_(to),
          strand_(leasehold::detail::posting_executor(strand)),
          complaint_(std::move(complain)),
          silence_(*this)
    {}

    void run(const boost::redis::config& settings, ended done);
    void execute(const boost::redis::request& request, any_adapter adapter,
                 asio::cancellation_slot slot, executed done);
    void receive(ended done);
    void cancel(boost::redis::operation operation);

    any_adapter pushed;
    std::size_t sent = 0;

    // From the world.
    void reset() override
    {
        if (stream_)
            stream_->reset();
    }
    [[nodiscard]] bool leads_to(const server_state& to) const noexcept override
    {
        return &server_ == &to;
    }
    void inject(std::string_view name) override;
    void drop() noexcept override;
    void on_delivery(tcp_stream& from, delivery delivered) override;
    void on_reset(tcp_stream& from) override;

private:
    /// A request, from its call to its end.
    struct element
    {
        enum class status : std::uint8_t
        {
            waiting,
            written,
            done,
        };

        const boost::redis::request* request =
            nullptr; ///< Null if no caller waits for it any more.
        boost::redis::request::config rules;
        any_adapter adapter;
        redis_store::connection::executed done;
        asio::cancellation_slot slot;
        std::size_t outstanding = 0; ///< Replies.
        status where = status::waiting;
    };

    using element_ptr = std::shared_ptr<element>;

    /// Checks a connection without incoming or outgoing data.
    class silence final : public local_alarm
    {
    public:
        explicit silence(state& of) noexcept : local_alarm(true), of_(of) {}

    private:
        void due() override { of_.on_silence(); }

        state& of_;
    };

    /// Runs `f(*this)` where the connection lives. A host that has ended runs nothing.
    template <class F>
    void post(F f)
    {
        if (!host_.crashed)
            strand_.execute([self = shared_from_this(), f = std::move(f)]() mutable { f(*self); });
    }

    void connect();
    void on_connected();
    void end(error_code why);
    void finish(const element_ptr& target, error_code outcome);
    void abandon_element(const element_ptr& target);
    void write_soon();
    void write();
    void read(const delivery& delivered);
    /// False if this ends the connection.
    bool read(const message& reply, std::size_t nodes);
    [[nodiscard]] bool is_pushed(const message& reply) const noexcept;
    void on_answer();
    void notify();
    void on_silence();
    void watch();
    void complain(std::string text);
    [[nodiscard]] clock::time_point local() const noexcept { return host_.lease_clock->now(); }
    static element_ptr make_internal(const boost::redis::request& request, any_adapter adapter);

    host_state& host_;
    server_state& server_;
    const asio::any_io_executor strand_; ///< Runs nothing inside a call.
    complaint complaint_;
    std::optional<boost::redis::config> where_;
    boost::redis::request setup_;
    boost::redis::request ping_;
    ended running_;
    bool runs_ = false;
    bool cancelled_ = false;
    bool open_ = false;
    bool write_posted_ = false;
    std::uint64_t attempt_ = 0; ///< Events of an earlier one are ignored.
    tcp_stream_ptr stream_;
    std::deque<element_ptr> elements_;
    struct outstanding_segment
    {
        segment_ptr what;
        std::size_t outstanding; ///< Replies.
    };
    std::deque<outstanding_segment> written_;
    bool serves_ = false; ///< It has answered the request for the time.
    ended receiving_;
    std::size_t unread_pushes_ = 0;
    silence silence_;
    clock::time_point last_read_{};
    clock::time_point last_written_{};
};

void simulated_connection::state::run(const boost::redis::config& settings, ended done)
{
    where_ = settings;
    running_ = std::move(done);
    runs_ = true;
    cancelled_ = false;
    connect();
}

void simulated_connection::state::connect()
{
    const std::uint64_t attempt = ++attempt_;
    const bool cut = host_.is_cut_to(server_) || host_.is_cut_from(server_) || server_.vanishes();
    const auto there = host_.delay(server_);
    const auto back = host_.delay(server_);
    const auto patience = where_->connect_timeout;
    const bool late = cut || there + back > patience;
    // At the server, then here.
    host_.time.at(host_.time.now() + (late ? clock::duration(patience) : there),
                  [weak = weak_from_this(), attempt, late, back, life = server_.life()] {
                      const auto self = weak.lock();
                      if (!self || self->attempt_ != attempt || self->host_.crashed)
                          return;
                      error_code failed;
                      if (late)
                          failed = redis_store::make_error(boost::redis::error::connect_timeout);
                      else if (!self->server_.accepts() || life != self->server_.life())
                          failed = asio::error::connection_refused;
                      tcp_stream_ptr made;
                      if (!failed) {
                          made.reset(new tcp_stream(self->host_, self->server_, *self));
                          self->server_.connect(made);
                          self->stream_ = made;
                      }
                      self->host_.time.at(
                          self->host_.time.now() + (late ? clock::duration::zero() : back),
                          [weak, attempt, failed] {
                              const auto again = weak.lock();
                              if (!again || again->attempt_ != attempt)
                                  return;
                              again->post([attempt, failed](state& here) {
                                  if (here.attempt_ != attempt || !here.runs_)
                                      return;
                                  if (!failed)
                                      return here.on_connected();
                                  ++here.host_.befallen.connects_failed;
                                  here.complain("Failed to connect to Redis server: " +
                                                failed.message());
                                  here.end(failed);
                              });
                          });
                  });
}

void simulated_connection::state::on_connected()
{
    open_ = true;
    last_read_ = last_written_ = local();
    setup_ = where_->setup;
    // Before all waiting requests.
    const element_ptr greeting = make_internal(
        setup_, any_adapter(any_adapter::impl_t([this](any_adapter::parse_event event,
                                                       const boost::redis::resp3::node_view& node,
                                                       error_code& failed) {
            if (event != any_adapter::parse_event::node || !is_error(node))
                return;
            complain("Setup request execution failed: " + std::string(node.value));
            failed = redis_store::make_error(boost::redis::error::resp3_hello);
        })));
    if (greeting->outstanding > 0)
        elements_.push_front(greeting);
    write_soon();
    watch();
}

simulated_connection::state::element_ptr simulated_connection::state::make_internal(
    const boost::redis::request& request, any_adapter adapter)
{
    auto made = std::make_shared<element>();
    made->request = &request;
    made->rules = {.cancel_on_connection_lost = true, .cancel_if_unresponded = true};
    made->adapter = std::move(adapter);
    made->outstanding = request.get_expected_responses();
    return made;
}

void simulated_connection::state::execute(const boost::redis::request& request, any_adapter adapter,
                                          asio::cancellation_slot slot, executed done)
{
    const auto made = std::make_shared<element>();
    made->request = &request;
    made->rules = request.get_config();
    made->adapter = std::move(adapter);
    made->done = std::move(done);
    made->outstanding = request.get_expected_responses();
    if (made->rules.cancel_if_not_connected && open_ && !host_.sends()) {
        ++host_.befallen.requests_unsent;
        return finish(made, redis_store::make_error(boost::redis::error::not_connected));
    }
    if (made->rules.cancel_if_not_connected && !open_)
        return finish(made, redis_store::make_error(boost::redis::error::not_connected));
    if (slot.is_connected()) {
        made->slot = slot;
        slot.assign([weak = weak_from_this(),
                     which = std::weak_ptr(made)](asio::cancellation_type type) {
            const auto self = weak.lock();
            const auto cancelled = which.lock();
            if (!self || !cancelled ||
                (type & (asio::cancellation_type::terminal | asio::cancellation_type::partial)) ==
                    asio::cancellation_type::none)
                return;
            self->post([cancelled](state& here) { here.abandon_element(cancelled); });
        });
    }
    elements_.push_back(made);
    write_soon();
}

void simulated_connection::state::abandon_element(const element_ptr& target)
{
    if (target->where == element::status::done)
        return;
    if (target->where == element::status::waiting) {
        std::erase(elements_, target);
        return finish(target, asio::error::operation_aborted);
    }
    // Its replies still arrive, and must not be taken for those to the next one.
    const auto stays = std::make_shared<element>();
    stays->outstanding = target->outstanding;
    stays->where = element::status::written;
    std::replace(elements_.begin(), elements_.end(), target, stays);
    finish(target, asio::error::operation_aborted);
}

/// Its handler is called soon.
void simulated_connection::state::finish(const element_ptr& target, error_code outcome)
{
    target->where = element::status::done;
    target->adapter = any_adapter();
    if (!target->done)
        return;
    post([target, outcome](state&) {
        if (target->slot.is_connected())
            target->slot.clear();
        if (auto done = std::move(target->done))
            std::move(done)(outcome, 0);
    });
}

void simulated_connection::state::write_soon()
{
    if (!open_ || std::exchange(write_posted_, true))
        return;
    post([](state& self) {
        self.write_posted_ = false;
        self.write();
    });
}

/// All waiting requests, in one piece.
void simulated_connection::state::write()
{
    if (!open_ || !stream_)
        return;
    std::string bytes;
    std::vector<element_ptr> answered;
    for (const element_ptr& each : elements_) {
        if (each->where != element::status::waiting)
            continue;
        each->where = element::status::written;
        bytes += each->request->payload();
        sent += each->request->get_commands();
        if (each->outstanding == 0)
            answered.push_back(each);
    }
    if (bytes.empty())
        return;
    const segment_ptr all(new segment(std::move(bytes), host_.time.now()));
    last_written_ = local();
    // Those that are answered by pushes, if at all, are done.
    for (const element_ptr& each : answered) {
        std::erase(elements_, each);
        finish(each, {});
    }
    std::size_t outstanding = 0;
    for (std::size_t i = 0; i < all->size(); ++i)
        outstanding += all->command(i)[0].ends_with("SUBSCRIBE") ? 0 : 1;
    if (outstanding > 0)
        written_.push_back({all, outstanding});
    const tcp_stream_ptr to = stream_;
    to->write(all);
    for (std::size_t i = 0; i < all->size(); ++i)
        if (const lock_request* const request = all->request(i))
            host_.report(sent_step(request->what));
}

void simulated_connection::state::on_delivery(tcp_stream& from, delivery delivered)
{
    post([by = tcp_stream_ptr(&from), delivered = std::move(delivered)](state& self) {
        if (self.open_ && self.stream_ == by)
            self.read(delivered);
    });
}

void simulated_connection::state::read(const delivery& delivered)
{
    last_read_ = local();
    for (std::size_t i = 0; i < delivered.messages.size(); ++i) {
        const message& each = delivered.messages[i];
        const bool is_part = delivered.nodes_of_last && i + 1 == delivered.messages.size();
        if (!read(each, is_part ? *delivered.nodes_of_last : each.size()))
            return;
    }
}

bool simulated_connection::state::is_pushed(const message& reply) const noexcept
{
    return reply.is_push() || elements_.empty() ||
           elements_.front()->where == element::status::waiting;
}

bool simulated_connection::state::read(const message& reply, std::size_t nodes)
{
    error_code failed;
    if (is_pushed(reply)) {
        reply.read(pushed, nodes, failed);
        if (failed) {
            end(failed);
            return false;
        }
        if (nodes == reply.size()) {
            if (reply.is_push() && reply.nodes()[1].value.ends_with("message"))
                ++host_.befallen.wakeups;
            notify();
        }
        return true;
    }
    const element_ptr first = elements_.front();
    reply.read(first->adapter, nodes, failed);
    if (failed) {
        elements_.pop_front();
        finish(first, failed);
        end(failed);
        return false;
    }
    if (nodes != reply.size())
        return true;
    if (reply.is_error() && reply.nodes().front().value.starts_with("NOSCRIPT"))
        ++host_.befallen.scripts_missing;
    if (reply.is_error() && is_redirection(reply.nodes().front().value))
        ++host_.befallen.redirected;
    if (--first->outstanding == 0) {
        elements_.pop_front();
        finish(first, {});
    }
    on_answer();
    return true;
}

void simulated_connection::state::on_answer()
{
    if (written_.empty())
        return;
    const segment_ptr written = written_.front().what;
    const std::size_t index = written->answered++;
    if (--written_.front().outstanding == 0)
        written_.pop_front();
    if (const lock_request* const request = written->request(index)) {
        host_.report(answered_step(request->what));
    }
    else if (written->command(index)[0] == "TIME" && !std::exchange(serves_, true)) {
        // The last of the first requests of a connection for commands.
        host_.report(step::connected);
    }
}

void simulated_connection::state::on_reset(tcp_stream& from)
{
    post([by = tcp_stream_ptr(&from)](state& self) {
        if (self.stream_ == by && self.runs_) {
            self.complain("Error reading data from the server: Connection reset by peer");
            self.end(asio::error::connection_reset);
        }
    });
}

/// The connection, or the attempt, has ended.
void simulated_connection::state::end(error_code why)
{
    ++attempt_;
    silence_.disarm();
    written_.clear();
    if (const tcp_stream_ptr last = std::exchange(stream_, nullptr))
        last->close();
    if (open_)
        ++host_.befallen.connections_lost;
    open_ = false;
    if (std::exchange(serves_, false))
        host_.report(step::disconnected);
    const auto all = std::exchange(elements_, {});
    for (const element_ptr& each : all) {
        const bool was_written = each->where == element::status::written;
        if (was_written && each->request == nullptr)
            continue; // no caller waits for it
        if (was_written ? each->rules.cancel_if_unresponded
                        : each->rules.cancel_on_connection_lost) {
            finish(each, asio::error::operation_aborted);
        }
        else {
            each->where = element::status::waiting;
            each->outstanding = each->request->get_expected_responses();
            elements_.push_back(each);
        }
    }
    if (where_->reconnect_wait_interval.count() > 0 && !cancelled_) {
        host_.time.at(host_.time.now() + where_->reconnect_wait_interval,
                      [weak = weak_from_this(), which = attempt_] {
                          if (const auto self = weak.lock();
                              self && self->attempt_ == which && !self->host_.crashed)
                              self->post([which](state& here) {
                                  if (here.attempt_ == which && here.runs_)
                                      here.connect();
                              });
                      });
        return;
    }
    runs_ = false;
    if (auto done = std::exchange(running_, nullptr))
        std::move(done)(why);
}

void simulated_connection::state::cancel(boost::redis::operation cancelled)
{
    using boost::redis::operation;
    switch (cancelled) {
    case operation::exec: {
        std::vector<element_ptr> waiting;
        for (const element_ptr& each : elements_)
            if (each->where == element::status::waiting)
                waiting.push_back(each);
        for (const element_ptr& each : waiting) {
            std::erase(elements_, each);
            finish(each, asio::error::operation_aborted);
        }
        break;
    }
    case operation::receive:
        if (auto done = std::exchange(receiving_, nullptr))
            strand_.execute([done = std::move(done)]() mutable {
                std::move(done)(asio::error::operation_aborted);
            });
        break;
    case operation::run:
        if (!std::exchange(cancelled_, true) && runs_)
            post([](state& self) {
                if (self.runs_ && self.cancelled_)
                    self.end(asio::error::operation_aborted);
            });
        break;
    default: break;
    }
}

void simulated_connection::state::receive(ended done)
{
    receiving_ = std::move(done);
    if (unread_pushes_ > 0)
        notify();
}

void simulated_connection::state::notify()
{
    if (!receiving_) {
        ++unread_pushes_;
        return;
    }
    unread_pushes_ = 0;
    post([done = std::exchange(receiving_, nullptr)](state&) mutable {
        std::move(done)(error_code());
    });
}

/// Sends a health check, or gives the server up.
void simulated_connection::state::on_silence()
{
    if (!open_)
        return;
    const clock::time_point now = local();
    const clock::duration patience = where_->health_check_interval;
    if (now < last_read_ + 2 * patience && now < last_written_ + patience)
        return watch();
    if (elements_.empty() && !host_.paused && stream_->is_undisturbed()) {
        // The reply is known; sending it would be most of the work in a world without trouble.
        last_read_ = last_written_ = now;
        return watch();
    }
    post([which = attempt_](state& self) {
        if (!self.open_ || self.attempt_ != which)
            return;
        if (self.local() >=
            self.last_read_ + 2 * clock::duration(self.where_->health_check_interval)) {
            self.complain("Error reading data from the server: pong timeout");
            return self.end(redis_store::make_error(boost::redis::error::pong_timeout));
        }
        if (self.local() >= self.last_written_ + self.where_->health_check_interval) {
            const auto refused = [](any_adapter::parse_event event,
                                    const boost::redis::resp3::node_view& node,
                                    error_code& failed) {
                if (event == any_adapter::parse_event::node && is_error(node))
                    failed = redis_store::make_error(boost::redis::error::resp3_simple_error);
            };
            if (self.ping_.get_commands() == 0)
                self.ping_ = redis_store::make_ping(self.where_->health_check_id);
            self.elements_.push_back(
                make_internal(self.ping_, any_adapter(any_adapter::impl_t(refused))));
            self.write();
        }
        self.watch();
    });
}

void simulated_connection::state::watch()
{
    const clock::duration patience = where_->health_check_interval;
    if (patience.count() > 0)
        silence_.arm(host_, std::min(last_read_ + 2 * patience, last_written_ + patience));
}

void simulated_connection::state::complain(std::string text)
{
    if (complaint_)
        complaint_(text);
    if (host_.time.traced())
        host_.line("connection: " + text);
}

void simulated_connection::state::inject(std::string_view name)
{
    if (!stream_)
        return;
    std::string release;
    redis_store::release_channel(name, release);
    const char* const kind = server_.cluster != nullptr ? "smessage" : "message";
    for (const std::string& channel : stream_->channels) {
        const std::string_view client = client_listening_at(channel);
        if (channel == release || channel == quorum::member_keys().releases(name))
            stream_->inject(message::strings(message::type::push, {kind, channel, "0"}));
        else if (!client.empty())
            stream_->inject(message::strings(message::type::push,
                                             {kind, channel, server_.false_grant(name, client)}));
    }
}

/// No more notifications. Objects that are destroyed here may keep this one.
void simulated_connection::state::drop() noexcept
{
    const auto self = shared_from_this();
    ++attempt_;
    open_ = runs_ = false;
    silence_.disarm();
    complaint_ = nullptr;
    if (const tcp_stream_ptr last = std::exchange(stream_, nullptr))
        last->close();
    const auto running = std::exchange(running_, nullptr);
    const auto receiving = std::exchange(receiving_, nullptr);
    const auto all = std::exchange(elements_, {});
    for (const element_ptr& each : all) {
        each->adapter = any_adapter();
        const auto done = std::exchange(each->done, nullptr);
    }
    pushed = any_adapter();
}

simulated_connection::simulated_connection(host_state& on, server_state& to,
                                           const asio::any_io_executor& strand, complaint complain)
    : state_(std::make_shared<state>(on, to, strand, std::move(complain)))
{
    on.add_connection(state_);
}

simulated_connection::~simulated_connection()
{
    state_->drop();
}

void simulated_connection::run(const boost::redis::config& settings, ended done)
{
    state_->run(settings, std::move(done));
}

void simulated_connection::execute(const boost::redis::request& request, any_adapter adapter,
                                   asio::cancellation_slot slot, executed done)
{
    state_->execute(request, std::move(adapter), slot, std::move(done));
}

void simulated_connection::set_receive_response(any_adapter adapter)
{
    state_->pushed = std::move(adapter);
}

void simulated_connection::receive(ended done)
{
    state_->receive(std::move(done));
}

void simulated_connection::cancel(boost::redis::operation operation)
{
    state_->cancel(operation);
}

std::size_t simulated_connection::commands_sent() const
{
    return state_->sent;
}

} // namespace leasehold::testing::impl
