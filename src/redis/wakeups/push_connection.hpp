#ifndef LEASEHOLD_SRC_REDIS_WAKEUPS_PUSH_CONNECTION_HPP
#define LEASEHOLD_SRC_REDIS_WAKEUPS_PUSH_CONNECTION_HPP

#include "core/async/context_lifetime.hpp"
#include "core/async/context_poster.hpp"
#include "redis/connection/reconnecting_connection.hpp"

#include <leasehold/config.hpp>
#include <leasehold/store.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold::redis_store {

/// A connection beside the one of the commands, made when it is first needed. What is said on it is
/// up to those that derive from it: what would hold the commands up, or mix up their answers. A
/// server answers a refused SUBSCRIBE with an error that nothing tells from the answer to the next
/// command. All on the strand.
class push_connection : public connection_observer,
                        public detail::context_observer,
                        public std::enable_shared_from_this<push_connection>
{
public:
    void open(const asio::any_io_executor& strand,
              const std::shared_ptr<detail::context_poster>& home, store_listener& listener);
    void close() noexcept;
    /// Where that one was; closed, if that is.
    void open_like(const push_connection& other);

protected:
    push_connection(const config& settings, std::shared_ptr<environment> from)
        : where_(settings), from_(std::move(from))
    {}
    ~push_connection() = default;

    /// Makes it. Once.
    void connect();
    [[nodiscard]] bool is_made() const noexcept { return connection_ != nullptr; }

    /// What has no answer that anybody reads: those of SUBSCRIBE are push messages.
    [[nodiscard]] static std::shared_ptr<boost::redis::request> make_request();
    void send(const std::shared_ptr<boost::redis::request>& asked);

    /// The same, for what has answers. `done(error_code, bool)` as of `reconnecting_connection`.
    template <class Done>
    void send(const boost::redis::request& asked, boost::redis::any_adapter adapter, Done done)
    {
        connection_->send(asked, std::move(adapter), {}, std::move(done));
    }

    /// Ends the connection; it is made again after the usual pause, or this.
    void begin_again(error_code why, std::string_view said,
                     std::optional<std::chrono::milliseconds> pause = std::nullopt);

    [[nodiscard]] store_listener* listener() const noexcept { return listener_; } ///< Null: none.
    [[nodiscard]] const asio::any_io_executor& strand() const noexcept { return strand_; }
    [[nodiscard]] detail::context_poster& home() const noexcept { return *home_; }

    /// An error that answers no command; true when it is no reason to begin again.
    [[nodiscard]] virtual bool on_refusal(const std::string& text)
    {
        static_cast<void>(text);
        return false;
    }

    /// Nothing is told any more, for good.
    virtual void on_silence() noexcept = 0;
    /// The context ends: lets go of all that belongs to it.
    virtual void on_forget() noexcept {}

private:
    void on_stray_error(const std::string& text) final;
    void on_context_end() noexcept final;
    void on_fork() noexcept final;

    const config where_;
    const std::shared_ptr<environment> from_;
    asio::any_io_executor strand_;
    std::shared_ptr<detail::context_poster> home_;
    store_listener* listener_ = nullptr;
    std::shared_ptr<reconnecting_connection> connection_;
};

} // namespace leasehold::redis_store

#endif
