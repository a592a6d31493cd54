#ifndef LEASEHOLD_TOOL_RUN_SUPERVISOR_HPP
#define LEASEHOLD_TOOL_RUN_SUPERVISOR_HPP

#include "deadline_page.hpp"
#include "guardian.hpp"
#include "run_settings.hpp"

#include <leasehold/client.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/lease.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::tool {

/// Acquires the locks, makes the guardian run the command, keeps the leases and the page of their
/// deadlines, and releases the locks when all processes of the command have ended.
class supervisor
{
public:
    supervisor(const run_settings& settings, deadline_page& page, const guardian& watching);

    struct ending
    {
        int exit_code;
        int signal; ///< The signal that ended the wait for the locks; 0: none.
    };

    ending run();

private:
    class lease_observer;
    using timer = boost::asio::basic_waitable_timer<clock>;

    boost::asio::awaitable<int> locked_run();
    boost::asio::awaitable<int> acquire();
    boost::asio::awaitable<int> run_command();
    /// Holds the locks for the rest of `run_settings::hold_at_least`, or until a signal arrives.
    boost::asio::awaitable<void> hold();
    /// Retries until the leases end or a signal arrives, and reports locks that are not released.
    /// @returns False if a lock is not released.
    boost::asio::awaitable<bool> release(int& code);
    /// @returns The number of processes that cannot be ended.
    boost::asio::awaitable<std::size_t> end_orphans();

    void obey_signals();
    /// @name Reasons of a long wait for the locks: each is reported once
    /// @{
    [[nodiscard]] std::string reason_of(diagnostics details, boost::system::error_code why) const;
    void fail(const diagnostics& details, boost::system::error_code why);
    void begin_wait(const std::string& key);
    void explain_wait(const std::string& reason);
    void keep_explaining();
    void report_reason();
    /// @}
    static void notify_stop(const outcome& result);
    void watch_leases();
    /// Writes the deadlines of the leases to the page.
    void keep_page();
    void lose(std::string_view key, boost::system::error_code why);
    void end_by_own_hand_at(clock::time_point when);
    void end_by_own_hand();
    [[nodiscard]] std::vector<std::string> environment() const;
    [[nodiscard]] int exit_code_of(const outcome& result) const;
    [[nodiscard]] static int exit_code_of_unended(std::size_t processes);

    const run_settings& settings_;
    deadline_page& page_;
    const guardian& guardian_;
    boost::asio::io_context context_{1};
    client locks_;
    std::vector<lease> leases_;
    boost::asio::signal_set signals_;
    boost::asio::posix::stream_descriptor reports_;
    clock::duration longest_left_{}; ///< Of the locks, until the earliest deadline.
    timer last_moment_;
    timer notice_;
    timer wait_over_;                 ///< After the command: of `hold`, then of `release`.
    clock::time_point acquired_at_{}; ///< The last lock.
    std::string waits_for_{};         ///< The key that is being acquired; empty: none.
    diagnostics holder_{};            ///< The holder of that key, as the first try has found it.
    std::string failure_{};           ///< The last error of the store; empty: it works.
    std::string reason_{};
    std::set<std::string> reported_reasons_{};
    int stopped_by_ = 0;  ///< The signal that ended the wait.
    bool trying_ = false; ///< During the try before the wait.
    bool running_ = false;
    bool ended_ = false; ///< The command has ended; its locks are held or released.
    bool lost_ = false;
    bool overdue_ = false; ///< The guardian did not end the command in time.
};

} // namespace leasehold::tool

#endif
