#include "support/fault_proxy.hpp"

#include "support/port.hpp"
#include "support/resp.hpp"

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <future>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace leasehold::test {
namespace asio = boost::asio;

namespace {

using boost::system::error_code;
using socket_t = asio::generic::stream_protocol::socket;
using predicate = fault_proxy::predicate;
using steady = std::chrono::steady_clock;

enum class flow
{
    forward,
    drop,
    stall,
};

predicate containing(std::string text)
{
    return [text = std::move(text)](std::string_view request) {
        return request.find(text) != std::string_view::npos;
    };
}

// A fault that waits for its request.
struct trap
{
    enum class action
    {
        reset_before,
        reset_reply,
        cut_request,
        cut_reply,
    };
    action what;
    predicate which; // empty: the next byte
    std::size_t bytes = 0;
};

// A request that the server has not answered yet.
struct question
{
    std::string text;
    std::optional<trap> fate{};
};

struct chunk
{
    enum class kind
    {
        data,
        end,
        reset,
    };
    kind type;
    steady::time_point due;
    std::string bytes{};
};

// The Redis protocol answers these requests with pushes, and not with a reply.
bool has_reply(const resp_value& request)
{
    if (request.items.empty())
        return true;
    std::string name = request.items.front().text;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return static_cast<char>(c | 0x20); });
    return !name.ends_with("subscribe");
}

// One direction of a connection.
struct half
{
    half(socket_t& source, socket_t& target, asio::io_context& context)
        : from(source), to(target), timer(context)
    {}

    socket_t& from;
    socket_t& to;
    asio::steady_timer timer;
    std::array<char, 65536> buffer{};
    std::string unread; // received, and not a complete request or reply yet
    std::deque<chunk> queue;
    std::optional<std::size_t> cut_after;
    bool opaque = false;
    bool writing = false;
    bool waiting = false;
    bool lost_bytes = false;
    bool closing = false; // no more data is queued
    bool ended = false;
};

struct connection
{
    connection(asio::io_context& context, socket_t accepted)
        : client(std::move(accepted)),
          server(context),
          requests(client, server, context),
          replies(server, client, context)
    {}

    socket_t client;
    socket_t server;
    half requests;
    half replies;
    std::deque<question> outstanding;
    bool alive = true;
};

using connection_ptr = std::shared_ptr<connection>;

} // namespace

class fault_proxy::core_fixture
{
public:
    explicit core_fixture(const stream_endpoint& upstream, std::string local = {})
        : upstream_(upstream), local_(std::move(local))
    {
        if (local_.empty())
            port_.emplace();
        listen();
        thread_ = std::thread([this] { context_.run(); });
    }

    ~core_fixture()
    {
        asio::post(context_, [this] {
            error_code ignored;
            acceptor_.close(ignored);
            while (!connections_.empty())
                close(*connections_.begin());
            guard_.reset();
        });
        thread_.join();
    }

    /// Runs `function` on the thread of the proxy and returns when it has ended.
    template <class Function>
    void call(Function function)
    {
        std::promise<void> done;
        asio::post(context_, [&] {
            try {
                function();
                done.set_value();
            }
            catch (...) {
                done.set_exception(std::current_exception());
            }
        });
        done.get_future().get();
    }

    std::uint16_t port() const noexcept { return port_ ? port_->number() : std::uint16_t{0}; }

    void set(flow requests, flow replies)
    {
        call([&] {
            request_flow_ = requests;
            reply_flow_ = replies;
            for (const connection_ptr& link :
                 std::vector(connections_.begin(), connections_.end())) {
                // No network loses bytes in the middle of a connection.
                if ((link->requests.lost_bytes && requests != flow::drop) ||
                    (link->replies.lost_bytes && replies != flow::drop))
                    reset(link);
                else
                    pump_both(link);
            }
        });
    }

    void delay(milliseconds each_way)
    {
        call([&] { delay_ = each_way; });
    }

    void translate(std::vector<translation> ports)
    {
        call([&] { translations_ = std::move(ports); });
    }

    void reset_all()
    {
        call([&] {
            while (!connections_.empty())
                reset(*connections_.begin());
        });
    }

    void refuse()
    {
        call([&] { acceptor_.close(); });
    }

    void accept()
    {
        call([&] {
            if (!acceptor_.is_open())
                listen();
        });
    }

    void lead_to(const stream_endpoint& other)
    {
        call([&] { upstream_ = other; });
    }

    void arm(trap armed)
    {
        call([&] { traps_.push_back(std::move(armed)); });
    }

    counters count() const
    {
        const std::lock_guard lock(mutex_);
        return counters_;
    }

    template <class Reached>
    void wait(Reached reached, milliseconds limit, const std::string& awaited)
    {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, limit, reached))
            throw std::runtime_error("fault_proxy: " + awaited + " did not happen in time");
    }

    void wait_for_text(const std::vector<std::string> core_fixture::* log, const std::string& text,
                       std::size_t times, milliseconds limit)
    {
        const auto has_text = [&](const std::string& entry) {
            return entry.find(text) != std::string::npos;
        };
        wait(
            [&] {
                return static_cast<std::size_t>(std::count_if(
                           (this->*log).begin(), (this->*log).end(), has_text)) >= times;
            },
            limit, '"' + text + '"');
    }

    void wait_until(const std::function<bool(const counters&)>& reached, milliseconds limit)
    {
        wait([&] { return reached(counters_); }, limit, "the count");
    }

    void forget()
    {
        const std::lock_guard lock(mutex_);
        seen_.clear();
        answered_.clear();
    }

    // Guarded by the mutex.
    std::vector<std::string> seen_;
    std::vector<std::string> answered_;

private:
    template <class Change>
    void record(Change change)
    {
        {
            const std::lock_guard lock(mutex_);
            change();
        }
        changed_.notify_all();
    }

    void listen()
    {
        const stream_endpoint here = port_ ? loopback_endpoint(port()) : local_endpoint(local_);
        if (!port_)
            std::filesystem::remove(local_); // of an acceptor that was closed
        acceptor_.open(here.protocol());
        acceptor_.set_option(asio::socket_base::reuse_address(true));
        acceptor_.bind(here);
        if (!port_)
            std::filesystem::permissions(local_, std::filesystem::perms::all);
        acceptor_.listen();
        accept_next();
    }

    void accept_next()
    {
        acceptor_.async_accept([this](error_code failed, socket_t accepted) {
            if (failed == asio::error::operation_aborted || !acceptor_.is_open())
                return;
            if (!failed)
                begin(std::move(accepted));
            accept_next();
        });
    }

    void begin(socket_t accepted)
    {
        error_code ignored;
        if (port_)
            accepted.set_option(asio::ip::tcp::no_delay(true), ignored);
        const auto link = std::make_shared<connection>(context_, std::move(accepted));
        connections_.insert(link);
        record([&] {
            ++counters_.accepted;
            ++counters_.open;
        });
        link->server.async_connect(upstream_, [this, link](error_code failed) {
            if (!link->alive)
                return;
            if (failed)
                return reset(link);
            if (upstream_.protocol().family() != AF_UNIX) {
                error_code unimportant;
                link->server.set_option(asio::ip::tcp::no_delay(true), unimportant);
            }
            read(link, link->requests);
            read(link, link->replies);
        });
    }

    void read(const connection_ptr& link, half& side)
    {
        side.from.async_read_some(
            asio::buffer(side.buffer), [this, link, &side](error_code failed, std::size_t size) {
                if (!link->alive)
                    return;
                if (failed == asio::error::eof) {
                    enqueue(link, side, chunk::kind::end);
                    return;
                }
                if (failed)
                    return reset(link);
                arrived(link, side, std::string_view(side.buffer.data(), size));
                if (link->alive)
                    read(link, side);
            });
    }

    void arrived(const connection_ptr& link, half& side, std::string_view bytes)
    {
        const bool requests = &side == &link->requests;
        record(
            [&] { (requests ? counters_.request_bytes : counters_.reply_bytes) += bytes.size(); });
        side.unread.append(bytes);
        std::size_t used = 0;
        while (!side.opaque && link->alive) {
            const std::string_view rest = std::string_view(side.unread).substr(used);
            try {
                const auto parsed = parse_resp(rest);
                if (!parsed)
                    break;
                const std::string_view whole = rest.substr(0, parsed->second);
                if (requests)
                    request(link, parsed->first, whole);
                else
                    reply(link, parsed->first, whole);
                used += parsed->second;
            }
            catch (const resp_malformed&) {
                side.opaque = true;
            }
        }
        side.unread.erase(0, used);
        if (side.opaque)
            emit(link, side, std::exchange(side.unread, {}));
    }

    /// Takes the first trap of this kind that is set for the request. An empty text matches any
    /// next byte.
    std::optional<trap> take_trap(trap::action action, std::string_view request)
    {
        const auto found = std::find_if(traps_.begin(), traps_.end(), [&](const trap& each) {
            return each.what == action && each.which && each.which(request);
        });
        return take(found);
    }

    std::optional<trap> take_trap_for_next_byte(trap::action action)
    {
        const auto found = std::find_if(traps_.begin(), traps_.end(), [&](const trap& each) {
            return each.what == action && !each.which;
        });
        return take(found);
    }

    std::optional<trap> take(std::deque<trap>::iterator found)
    {
        if (found == traps_.end())
            return std::nullopt;
        std::optional<trap> taken(std::move(*found));
        traps_.erase(found);
        return taken;
    }

    void request(const connection_ptr& link, const resp_value& value, std::string_view whole)
    {
        half& side = link->requests;
        record([&] {
            ++counters_.requests;
            seen_.emplace_back(whole);
        });
        if (side.closing)
            return;
        if (take_trap(trap::action::reset_before, whole))
            return enqueue(link, side, chunk::kind::reset);
        if (const auto cut = take_trap(trap::action::cut_request, whole))
            side.cut_after = cut->bytes;
        std::optional<trap> fate = take_trap(trap::action::reset_reply, whole);
        if (!fate)
            fate = take_trap(trap::action::cut_reply, whole);
        if (request_flow_ != flow::drop && has_reply(value))
            link->outstanding.push_back({std::string(whole), std::move(fate)});
        emit(link, side, std::string(whole));
    }

    void reply(const connection_ptr& link, const resp_value& value, std::string_view whole)
    {
        half& side = link->replies;
        if (value.type == resp_value::kind::push || link->outstanding.empty())
            return emit(link, side, std::string(whole));
        question asked = std::move(link->outstanding.front());
        link->outstanding.pop_front();
        if (asked.fate && asked.fate->what == trap::action::reset_reply)
            enqueue(link, side, chunk::kind::reset);
        else if (asked.fate)
            side.cut_after = asked.fate->bytes;
        record([&] {
            ++counters_.replies;
            answered_.push_back(std::move(asked.text));
        });
        emit(link, side, translated(std::string(whole)));
    }

    std::string translated(std::string reply) const
    {
        const auto as_string = [](std::uint16_t port) {
            const std::string text = std::to_string(port);
            return '$' + std::to_string(text.size()) + "\r\n" + text + "\r\n";
        };
        // One pass: a translated port must not be translated again.
        for (std::size_t at = 0; at < reply.size(); ++at) {
            for (const translation& each : translations_) {
                const std::string from = as_string(each.from);
                if (reply.compare(at, from.size(), from) != 0)
                    continue;
                const std::string to = as_string(each.to);
                reply.replace(at, from.size(), to);
                at += to.size() - 1;
                break;
            }
        }
        return reply;
    }

    void emit(const connection_ptr& link, half& side, std::string bytes)
    {
        if (side.closing || !link->alive || bytes.empty())
            return;
        const bool requests = &side == &link->requests;
        if (!side.cut_after)
            if (const auto cut = take_trap_for_next_byte(requests ? trap::action::cut_request
                                                                  : trap::action::cut_reply))
                side.cut_after = cut->bytes;
        bool cut = false;
        if (side.cut_after) {
            cut = bytes.size() >= *side.cut_after;
            bytes.resize(std::min(bytes.size(), *side.cut_after));
            *side.cut_after -= bytes.size();
        }
        if (!bytes.empty())
            enqueue(link, side, chunk::kind::data, std::move(bytes));
        if (cut)
            enqueue(link, side, chunk::kind::reset);
    }

    void enqueue(const connection_ptr& link, half& side, chunk::kind type, std::string bytes = {})
    {
        if (side.closing || !link->alive)
            return;
        side.closing = type != chunk::kind::data;
        side.queue.push_back({type, steady::now() + delay_, std::move(bytes)});
        pump(link, side);
    }

    void pump_both(const connection_ptr& link)
    {
        pump(link, link->requests);
        if (link->alive)
            pump(link, link->replies);
    }

    void pump(const connection_ptr& link, half& side)
    {
        const flow how = &side == &link->requests ? request_flow_ : reply_flow_;
        while (!side.writing && !side.waiting && !side.queue.empty() && how != flow::stall &&
               link->alive) {
            if (side.queue.front().due > steady::now())
                return pump_later(link, side);
            chunk next = std::move(side.queue.front());
            side.queue.pop_front();
            if (next.type == chunk::kind::reset)
                reset(link);
            else if (next.type == chunk::kind::end)
                end(link, side);
            else if (how == flow::drop)
                side.lost_bytes = true;
            else
                write(link, side, std::move(next.bytes));
        }
    }

    void pump_later(const connection_ptr& link, half& side)
    {
        side.waiting = true;
        side.timer.expires_at(side.queue.front().due);
        side.timer.async_wait([this, link, &side](error_code) {
            side.waiting = false;
            if (link->alive)
                pump(link, side);
        });
    }

    void write(const connection_ptr& link, half& side, std::string bytes)
    {
        side.writing = true;
        auto data = std::make_shared<std::string>(std::move(bytes));
        asio::async_write(side.to, asio::buffer(*data),
                          [this, link, &side, data](error_code failed, std::size_t) {
                              side.writing = false;
                              if (!link->alive)
                                  return;
                              if (failed)
                                  return reset(link);
                              pump(link, side);
                          });
    }

    void end(const connection_ptr& link, half& side)
    {
        side.ended = true;
        error_code ignored;
        side.to.shutdown(asio::socket_base::shutdown_send, ignored);
        if (link->requests.ended && link->replies.ended)
            close(link);
    }

    void reset(connection_ptr link)
    {
        error_code ignored;
        link->client.set_option(asio::socket_base::linger(true, 0), ignored);
        link->server.set_option(asio::socket_base::linger(true, 0), ignored);
        record([&] { ++counters_.resets; });
        close(std::move(link));
    }

    void close(connection_ptr link)
    {
        link->alive = false;
        error_code ignored;
        link->client.close(ignored);
        link->server.close(ignored);
        link->requests.timer.cancel();
        link->replies.timer.cancel();
        connections_.erase(link);
        record([&] { --counters_.open; });
    }

    stream_endpoint upstream_;
    const std::string local_;
    std::optional<reserved_port> port_; ///< Nothing: it listens at the local socket.
    asio::io_context context_{1};
    asio::executor_work_guard<asio::io_context::executor_type> guard_{context_.get_executor()};
    asio::basic_socket_acceptor<asio::generic::stream_protocol> acceptor_{context_};
    std::set<connection_ptr> connections_;
    std::deque<trap> traps_;
    flow request_flow_ = flow::forward;
    flow reply_flow_ = flow::forward;
    milliseconds delay_{0};
    std::vector<translation> translations_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    counters counters_;

    std::thread thread_;
};

fault_proxy::fault_proxy(const stream_endpoint& upstream)
    : engine_(std::make_unique<core_fixture>(upstream))
{}
fault_proxy::fault_proxy(const stream_endpoint& upstream, const std::string& here)
    : engine_(std::make_unique<core_fixture>(upstream, here))
{}
fault_proxy::~fault_proxy() = default;

std::uint16_t fault_proxy::port() const noexcept
{
    return engine_->port();
}

void fault_proxy::forward()
{
    engine_->set(flow::forward, flow::forward);
}

void fault_proxy::drop_requests()
{
    engine_->set(flow::drop, flow::forward);
}

void fault_proxy::drop_replies()
{
    engine_->set(flow::forward, flow::drop);
}

void fault_proxy::drop()
{
    engine_->set(flow::drop, flow::drop);
}

void fault_proxy::stall()
{
    engine_->set(flow::stall, flow::stall);
}

void fault_proxy::stall_requests()
{
    engine_->set(flow::stall, flow::forward);
}

void fault_proxy::stall_replies()
{
    engine_->set(flow::forward, flow::stall);
}

void fault_proxy::translate(std::vector<translation> ports)
{
    engine_->translate(std::move(ports));
}

void fault_proxy::delay(milliseconds each_way)
{
    engine_->delay(each_way);
}

void fault_proxy::reset_all()
{
    engine_->reset_all();
}

void fault_proxy::refuse()
{
    engine_->refuse();
}

void fault_proxy::accept()
{
    engine_->accept();
}

void fault_proxy::lead_to(const stream_endpoint& other)
{
    engine_->lead_to(other);
}

void fault_proxy::cut_after_request_bytes(std::size_t count, std::string text)
{
    engine_->arm({trap::action::cut_request,
                  text.empty() ? predicate() : containing(std::move(text)), count});
}

void fault_proxy::cut_after_reply_bytes(std::size_t count, std::string text)
{
    engine_->arm(
        {trap::action::cut_reply, text.empty() ? predicate() : containing(std::move(text)), count});
}

void fault_proxy::forward_then_reset(std::string text)
{
    forward_then_reset(containing(std::move(text)));
}

void fault_proxy::forward_then_reset(predicate matches)
{
    engine_->arm({trap::action::reset_reply, std::move(matches)});
}

void fault_proxy::reset_before(std::string text)
{
    reset_before(containing(std::move(text)));
}

void fault_proxy::reset_before(predicate matches)
{
    engine_->arm({trap::action::reset_before, std::move(matches)});
}

fault_proxy::counters fault_proxy::count() const
{
    return engine_->count();
}

void fault_proxy::wait_for_request(const std::string& text, std::size_t times, milliseconds limit)
{
    engine_->wait_for_text(&core_fixture::seen_, text, times, limit);
}

void fault_proxy::wait_for_reply_to(const std::string& text, std::size_t times, milliseconds limit)
{
    engine_->wait_for_text(&core_fixture::answered_, text, times, limit);
}

void fault_proxy::wait_until(const std::function<bool(const counters&)>& reached,
                             milliseconds limit)
{
    engine_->wait_until(reached, limit);
}

void fault_proxy::forget()
{
    engine_->forget();
}

} // namespace leasehold::test
