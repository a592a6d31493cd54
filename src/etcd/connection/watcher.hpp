#ifndef LEASEHOLD_SRC_ETCD_CONNECTION_WATCHER_HPP
#define LEASEHOLD_SRC_ETCD_CONNECTION_WATCHER_HPP

#include "etcd/connection/watch_link.hpp"
#include "fsm/contention/backoff.hpp"

#include <leasehold/etcd_config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace leasehold::etcd_store {

/// Notified about watches, on the strand, never inside a call of the watcher.
class watcher_user
{
public:
    /// The key was removed. Its watch has ended.
    virtual void on_removed(std::int64_t watch) = 0;
    /// The server watches the key from now on. There were changes since the given revision.
    virtual void on_watch_late(std::int64_t watch) = 0;
    /// The server does not watch the key any more, for example because it has forgotten the
    /// revision. The watch has ended.
    virtual void on_watch_end(std::int64_t watch) = 0;
    /// The connection was made, perhaps again.
    virtual void on_watching() = 0;

protected:
    ~watcher_user() = default;
};

/// Watches for the removal of keys, over one connection that is made for the first watch, and made
/// again whenever it is lost. With a user it does nothing, because the gateway does not pass on the
/// user's token. All on one strand.
class watcher final : public watch_link_user, public std::enable_shared_from_this<watcher>
{
public:
    explicit watcher(const etcd_config& settings);
    ~watcher() { drop(); }

    void open(const asio::any_io_executor& strand, watcher_user& user);
    /// The server to use, until `stop`.
    void start(const etcd_config::address& at, std::chrono::milliseconds limit);
    void stop();
    /// There are no more calls.
    void drop() noexcept;

    enum class pace : std::uint8_t
    {
        complete, ///< A removal since the revision is reported. The server looks for these ten
                  ///< times a second.
        prompt, ///< Each later removal is reported at once, and `on_watch_late` before it if there
                ///< may have been earlier ones.
    };
    /// Watches a key from a revision on.
    /// @returns The number of the watch, from 1 on.
    [[nodiscard]] std::int64_t add(std::string key, std::uint64_t revision, pace how);
    /// Ends a watch. 0: none.
    void remove(std::int64_t watch);

    /// Whether the server reports a removal of this key.
    [[nodiscard]] bool watches(std::int64_t watch) const;
    [[nodiscard]] bool is_open() const noexcept { return open_; }

private:
    struct watched
    {
        std::string key;
        std::uint64_t revision; ///< The first one of interest.
        pace how;
        bool confirmed = false; ///< The server watches it.
    };

    void connect();
    void request(std::int64_t watch, const watched& what);
    void on_watch_open() override;
    void on_watch_message(std::string_view text) override;
    void on_watch_closed(const std::string& why) override;

    const etcd_config settings_;
    asio::any_io_executor strand_;
    watcher_user* user_ = nullptr;
    std::optional<etcd_config::address> at_; ///< Nothing: stopped.
    std::chrono::milliseconds limit_{};
    std::shared_ptr<watch_link> link_;
    std::unique_ptr<asio::steady_timer> timer_; ///< The pause before an attempt.
    bool pauses_ = false;
    fsm::random_source random_;
    bool open_ = false;
    std::int64_t last_ = 0;
    std::map<std::int64_t, watched> watches_;
};

} // namespace leasehold::etcd_store

#endif
