#ifndef LEASEHOLD_SRC_SESSION_STORE_STATE_OF_HPP
#define LEASEHOLD_SRC_SESSION_STORE_STATE_OF_HPP

#include "base/info_text.hpp"
#include "base/name_map.hpp"
#include "base/outage.hpp"
#include "base/this_process.hpp"
#include "core/async/context_lifetime.hpp"
#include "core/async/context_poster.hpp"
#include "session_store/operation.hpp"

#include <leasehold/client_info.hpp>
#include <leasehold/clock.hpp>
#include <leasehold/store.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/query.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold::session_store {

/// The operations of a store whose locks live in a session of the client, and its end. All on the
/// strand.
/// @tparam State The derived class. It has:
///  - `open_connection(strand)`, `close_connection()`, which may throw `std::bad_alloc`, and
///    `drop_connection() noexcept`, after which there are no more calls,
///  - `to()`: the session, with `ready()`, `server()`, `until()`, a time until which it lives, and
///    `lifetime()` after a renewal,
///  - `touch(handler)`, which renews the session.
template <class State>
class state_of : public detail::context_observer, public std::enable_shared_from_this<State>
{
public:
    using operation_ptr = std::shared_ptr<operation_of<State>>;

    void open(const asio::any_io_executor& strand, store_listener& listener)
    {
        poster_ = detail::context_poster::make(strand);
        asio::use_service<detail::context_lifetime>(asio::query(strand, asio::execution::context))
            .add(this->shared_from_this());
        listener_ = &listener;
        self().open_connection(strand);
    }

    void close() noexcept
    {
        if (std::exchange(closed_, true))
            return;
        listener_ = nullptr;
        try {
            self().close_connection();
        }
        catch (const std::bad_alloc&) {
            on_context_end();
        }
    }

    /// Starts it, or queues it behind the others of its name.
    void add(operation_ptr op)
    {
        if (ended_)
            return; // no executor could run its handler
        lane& queue = lanes_.try_emplace(op->place).first->second;
        queue.push_back(op);
        if (queue.size() == 1)
            run(op->place);
    }

    /// The operation has ended. Its handler is called soon.
    void finish(const operation_ptr& op, error_code code, const details_ptr& details = {})
    {
        if (!starting_)
            return end(op, code, details);
        post(
            [self = this->shared_from_this(), op, code, details] { self->end(op, code, details); });
    }

    /// As `finish`, with an error of a request.
    /// @param text Of the server, or of this library.
    void finish_refused(const operation_ptr& op, error_code code, std::string text,
                        std::string_view name)
    {
        const details_ptr details = details_of(std::move(text), name);
        if (listener_ != nullptr && !starting_)
            listener_->on_error(0, code, *details);
        finish(op, code, details);
    }

    /// Calls a function soon, while the context lives.
    template <class Function>
    void post(Function function)
    {
        if (poster_)
            poster_->post(std::move(function));
    }

    /// The rest of the session, from a time on.
    [[nodiscard]] std::chrono::milliseconds left_from(clock::time_point sent) const noexcept
    {
        return std::chrono::floor<std::chrono::milliseconds>(self().to().until() - sent);
    }
    /// Whether a lease should begin with a renewal of the session.
    [[nodiscard]] bool is_short(std::chrono::milliseconds lease) const noexcept
    {
        return left_from(clock::now()) < std::min(lease, self().to().lifetime() / 2);
    }

    /// Sets the lease of a grant, if it is shorter than requested.
    /// @param sent The sending of the request.
    void limit_lease(acquire_reply& granted, clock::time_point sent,
                     std::chrono::milliseconds requested) const noexcept
    {
        if (const auto left = left_from(sent); left < requested)
            granted.lease = left;
    }

    /// A waiter has become the first.
    template <class Contender>
    void notify_grant(const Contender& to)
    {
        if (listener_ == nullptr)
            return;
        // The confirmation needs the time.
        if (is_short(self().to().lifetime()) && self().to().ready())
            self().touch([](const auto&) {});
        listener_->on_grant(std::string(to.name), std::string(to.owner));
    }

    [[nodiscard]] const client_info& info() const noexcept { return info_; }
    /// Why there is no connection.
    [[nodiscard]] error_code down() const noexcept
    {
        return listener_ != nullptr ? outage_.code() : errc::store_unavailable;
    }
    [[nodiscard]] bool ready() const noexcept
    {
        return listener_ != nullptr && self().to().ready();
    }

protected:
    explicit state_of(bool describes)
        : info_(describes ? detail::this_process() : client_info()),
          info_text_(info_.empty() ? std::string() : detail::text_of(info_))
    {}
    ~state_of() = default;

    [[nodiscard]] details_ptr details_of(std::string text, std::string_view name) const
    {
        auto details = std::make_shared<diagnostics>();
        details->server = self().to().server();
        details->key = name;
        details->server_message = std::move(text);
        return details;
    }

    /// The session has ended, and the places and locks of these owners with it.
    template <class Contenders>
    void notify_end(const Contenders& ended)
    {
        std::set<std::pair<std::string_view, std::string_view>> owners;
        for (const auto& [key, each] : ended)
            owners.emplace(each.name, each.owner);
        for (const auto& [name, owner] : owners) {
            if (listener_ != nullptr)
                listener_->on_gone(name, owner);
        }
    }

    void notify_lost(error_code why, const std::string& from_server, const std::string& from_here)
    {
        diagnostics details;
        details.server = self().to().server();
        details.server_message = from_server;
        details.connection_error = from_here;
        notify_unreachable(why, details);
    }

    void notify_unreachable(error_code why, const diagnostics& details)
    {
        const auto kept = this->shared_from_this();
        outage_.report(why, details, listener_);
    }

    const client_info info_;
    const std::string info_text_;
    store_listener* listener_ = nullptr;
    detail::outage outage_;

private:
    using lane = std::deque<operation_ptr>;

    [[nodiscard]] State& self() noexcept { return static_cast<State&>(*this); }
    [[nodiscard]] const State& self() const noexcept { return static_cast<const State&>(*this); }

    // The destruction of a handler may call this object.
    void on_context_end() noexcept override
    {
        closed_ = true;
        listener_ = nullptr;
        ended_ = true;
        self().drop_connection();
        const auto lanes = std::exchange(lanes_, {});
    }

    /// Starts the first operation of the name.
    void run(const std::string& place)
    {
        const auto found = lanes_.find(place);
        if (found == lanes_.end())
            return;
        const operation_ptr op = found->second.front();
        const bool outer = std::exchange(starting_, true);
        if (ready())
            op->start();
        else
            finish(op, down(), outage_.details());
        starting_ = outer;
    }

    void end(const operation_ptr& op, error_code code, const details_ptr& details)
    {
        const auto kept = this->shared_from_this();
        // Those that the handler adds go behind the ones that wait already.
        op->complete(code, details);
        const auto found = lanes_.find(op->place);
        if (found == lanes_.end() || found->second.empty() || found->second.front() != op)
            return; // the context has ended
        found->second.pop_front();
        if (found->second.empty())
            lanes_.erase(found);
        else
            run(op->place);
    }

    std::shared_ptr<detail::context_poster> poster_;
    detail::name_map<lane> lanes_; ///< By the place of the lock.
    bool ended_ = false;           ///< The context has ended.
    bool starting_ = false;        ///< Inside a call of the user.
    bool closed_ = false;
};

} // namespace leasehold::session_store

#endif
