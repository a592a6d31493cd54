#ifndef LEASEHOLD_TOOL_RUN_SUPERVISOR_HPP
#define LEASEHOLD_TOOL_RUN_SUPERVISOR_HPP

#include "deadline_page.hpp"
#include "guardian.hpp"
#include "run_settings.hpp"

#include <leasehold/client.hpp>
#include <leasehold/lease.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace leasehold::tool {

/// Acquires the locks, has the guardian run the command, keeps the leases and the page of their
/// deadlines, and releases when all that came of the command is gone.
class supervisor
{
public:
    supervisor(const run_settings& settings, deadline_page& page, const guardian& watching);

    struct ending
    {
        int exit_code;
        int signal; ///< What ended the wait for the locks; 0: nothing.
    };

    ending run();

private:
    class lease_observer;
    using timer = boost::asio::basic_waitable_timer<clock>;

    boost::asio::awaitable<int> locked_run();
    boost::asio::awaitable<int> acquire();
    boost::asio::awaitable<int> run_command();
    boost::asio::awaitable<int> release(int code);
    boost::asio::awaitable<void> end_orphans();

    void obey_signals();
    void watch_leases();
    /// The page has to say what the leases say; earlier when one is gone.
    void keep_page();
    void lose(std::string_view key, boost::system::error_code why);
    void end_by_own_hand_at(clock::time_point when);
    void end_by_own_hand();
    [[nodiscard]] std::vector<std::string> environment() const;
    [[nodiscard]] int exit_code_of(const outcome& told) const;

    const run_settings& settings_;
    deadline_page& page_;
    const guardian& guardian_;
    boost::asio::io_context context_{1};
    client locks_;
    std::vector<lease> leases_;
    boost::asio::signal_set signals_;
    boost::asio::posix::stream_descriptor reports_;
    timer last_moment_;
    int stopped_by_ = 0; ///< The signal that ended the wait.
    bool running_ = false;
    bool lost_ = false;
    bool overdue_ = false; ///< The guardian did not end the command in time.
};

} // namespace leasehold::tool

#endif
