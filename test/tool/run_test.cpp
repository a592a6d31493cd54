// `leasehold run`, as processes that lock at a server of the test's own.
#include "support/client_thread.hpp"
#include "support/directory.hpp"
#include "support/process.hpp"
#include "support/redis_server.hpp"
#include "tool/words.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <memory>
#include <poll.h>
#include <sstream>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace leasehold::test {
namespace {

using namespace std::chrono_literals;
using words = std::vector<std::string>;
using steady = std::chrono::steady_clock;

const std::string tool = LEASEHOLD_TEST_TOOL;

/// A shell that says "ready", then goes on until it is ended.
std::string goes_on(const std::string& before = {})
{
    return before + " echo ready; while :; do sleep 0.02; done";
}

/// Reads a line with a number.
pid_t read_pid(process& from)
{
    const auto line = from.read_line();
    BOOST_TEST_REQUIRE(line.has_value());
    return std::stoi(*line);
}

/// Whether a process that need not be a child of this one ends in time.
bool ends_within(pid_t id, std::chrono::milliseconds limit)
{
    const int handle = static_cast<int>(::syscall(SYS_pidfd_open, id, 0));
    if (handle < 0)
        return errno == ESRCH;
    pollfd ended{handle, POLLIN, 0};
    const int count = ::poll(&ended, 1, static_cast<int>(limit.count()));
    ::close(handle);
    return count == 1;
}

bool gone(pid_t id)
{
    return ::kill(id, 0) != 0 && errno == ESRCH;
}

struct fixture
{
    redis_server server;
    temporary_directory directory;

    const std::string messages = directory.file("messages");

    /// `leasehold run` with these words; what it says goes to a file.
    std::unique_ptr<process> start(const words& arguments)
    {
        return std::make_unique<process>(
            words{"/bin/sh", "-c", "exec \"$@\" 2>" + messages, "sh", tool, "run"} + arguments,
            environment_t{{"LEASEHOLD_URL", server.unix_url()}});
    }

    int code_of(const words& arguments) { return start(arguments)->wait(30s).code; }

    std::string said() const
    {
        std::ostringstream text;
        text << std::ifstream(messages).rdbuf();
        return text.str();
    }

    bool held(const std::string& key)
    {
        resp_client client = server.connect();
        return client.command({"EXISTS", key}).number == 1;
    }
};

/// Leases that end while the test looks, with room for a busy machine: KILL comes 1.2 seconds
/// before the end.
const words short_lease{"--lease", "3s", "--term-before", "50%", "--kill-before", "40%"};
constexpr auto lease_time = 3s;

} // namespace

BOOST_FIXTURE_TEST_SUITE(tool_run, fixture)

BOOST_AUTO_TEST_CASE(the_exit_code_is_the_commands_own)
{
    BOOST_TEST(code_of({"stock", "--", "true"}) == 0);
    BOOST_TEST(code_of({"stock", "--", "sh", "-c", "exit 3"}) == 3);
    BOOST_TEST(code_of({"stock", "--", "sh", "-c", "kill -9 $$"}) == 128 + SIGKILL);
    BOOST_TEST(code_of({"stock", "--shell", "--", "exit", "4"}) == 4);
    BOOST_TEST(said() == "");
}

BOOST_AUTO_TEST_CASE(the_command_knows_what_is_held_for_it)
{
    const auto running = start({"stock", "--", "sh", "-c",
                                "echo $LEASEHOLD_KEY; echo $LEASEHOLD_URL; echo $LEASEHOLD_OWNER; "
                                "echo $LEASEHOLD_FENCE; read done"});
    BOOST_TEST(running->read_line().value() == "stock");
    BOOST_TEST(running->read_line().value() == server.unix_url());
    const std::string owner = running->read_line().value();
    const std::string fence = running->read_line().value();
    BOOST_TEST(owner.ends_with("#" + fence));
    BOOST_TEST(held("stock"));
    running->write_line("");
    BOOST_TEST(running->wait().code == 0);
    BOOST_TEST(!held("stock"));
}

BOOST_AUTO_TEST_CASE(several_keys_are_held_together)
{
    const auto running = start({"b", "a", "--", "sh", "-c", "echo \"$LEASEHOLD_KEY\"; read done"});
    BOOST_TEST(running->read_line().value() == "b");
    BOOST_TEST(running->read_line().value() == "a");
    BOOST_TEST(held("a"));
    BOOST_TEST(held("b"));
    running->write_line("");
    BOOST_TEST(running->wait().code == 0);
    BOOST_TEST(!held("a"));
    BOOST_TEST(!held("b"));
}

BOOST_AUTO_TEST_CASE(a_lock_that_is_held_is_busy_and_goes_to_who_waits)
{
    const auto holder = start({"stock", "--", "sh", "-c", "echo ready; read done"});
    holder->expect("ready");
    BOOST_TEST(code_of({"--no-wait", "stock", "--", "true"}) == 75);
    BOOST_TEST(said().find("held by client") != std::string::npos);
    BOOST_TEST(code_of({"--wait", "1s", "stock", "--", "true"}) == 75);
    // One of the two is held: the other is not kept.
    BOOST_TEST(code_of({"--wait=1s", "another", "stock", "--", "true"}) == 75);
    BOOST_TEST(!held("another"));
    const auto next = start({"stock", "--", "echo", "in"});
    holder->write_line("");
    BOOST_TEST(holder->wait().code == 0);
    next->expect("in");
    BOOST_TEST(next->wait().code == 0);
}

// For those who look who holds the lock, and why.
BOOST_AUTO_TEST_CASE(the_client_is_known_by_the_name_of_the_command)
{
    const auto known_as = [&](const words& arguments) {
        const auto running = start(arguments);
        running->expect("ready");
        resp_client client = server.connect();
        const std::string owner = client.command({"GET", "stock"}).text;
        const std::string note = "leasehold:client:" + owner.substr(3, 8);
        std::string name;
        wait_until([&] {
            name = client.command({"HGET", note, "program"}).text;
            return !name.empty();
        });
        running->write_line("");
        BOOST_TEST(running->wait().code == 0);
        return name;
    };
    const std::string line = "echo ready; read done";
    BOOST_TEST(known_as({"stock", "--", "sh", "-c", line}) == "sh");
    BOOST_TEST(known_as({"stock", "--", "/usr/bin/env", "sh", "-c", line}) == "env");
    // Of a line the first word that is a command's name.
    BOOST_TEST(known_as({"--shell", "stock", "--", line}) == "echo");
    BOOST_TEST(known_as({"--shell", "stock", "--", " A=1 B_2=", "/usr/bin/env", line}) == "env");
    BOOST_TEST(known_as({"--shell", "stock", "--", "(" + line + ")"}) == "sh");
    BOOST_TEST(known_as({"--shell", "stock", "--", "\"$0\" -c 'exit 0'; " + line}) == "sh");
}

BOOST_AUTO_TEST_CASE(a_store_that_cannot_be_reached_or_is_no_store)
{
    BOOST_TEST(code_of({"--url", "unix:///nowhere", "--wait", "50ms", "stock", "--", "true"}) ==
               77);
    server.connect().done({"LPUSH", "list", "value"});
    BOOST_TEST(code_of({"list", "--", "true"}) == 2);
}

BOOST_AUTO_TEST_CASE(commands_that_cannot_be_started)
{
    BOOST_TEST(code_of({"stock", "--", "/no/such/program"}) == 127);
    BOOST_TEST(said() == "leasehold: /no/such/program: No such file or directory\n");
    BOOST_TEST(code_of({"stock", "--", "/etc/passwd"}) == 126);
    BOOST_TEST(!held("stock"));
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named)
{
    const auto refused = [&](const words& arguments, const std::string& text) {
        BOOST_TEST(code_of(arguments) == 2, text);
        BOOST_TEST(said().find(text) != std::string::npos, said());
    };
    refused({"--", "true"}, "KEY is missing");
    refused({"stock"}, "the command is missing");
    refused({"stock", "stock", "--", "true"}, "KEY 'stock' is there twice");
    refused({"stock", "a\nb", "--", "true"}, "line feed");
    refused({"leasehold:x", "--", "true"}, "leasehold:x");
    refused({"--lease", "5", "stock", "--", "true"}, "--lease is '5'; it must be");
    refused({"--lease", "1ms", "stock", "--", "true"}, "lease_time");
    refused({"--lease"}, "--lease needs a value: TIME");
    refused({"--shell=yes", "stock", "--", "true"}, "--shell takes no value");
    refused({"--frob", "stock", "--", "true"}, "unknown option '--frob'; allowed: --url, ");
    refused({"--wait", "1s", "--no-wait", "stock", "--", "true"}, "exclude each other");
    refused({"--term-before", "120%", "stock", "--", "true"}, "--term-before is '120%'");
    refused({"--term-before", "60%", "stock", "--", "true"}, "at most half of --lease");
    refused({"--kill-before", "20%", "stock", "--", "true"}, "shorter than --term-before");
    refused({"--url", "redis://host:99999", "stock", "--", "true"}, "port is '99999'");
    refused({"--url", "memory:", "stock", "--", "true"}, "keep no other process out");
    refused({"--reenter", "stock", "--", "true"}, "--reenter needs LEASEHOLD_KEY");
}

// Only of several could nobody tell where one ends.
BOOST_AUTO_TEST_CASE(a_key_with_a_line_feed_is_locked_alone)
{
    BOOST_TEST(code_of({"a\nb", "--", "true"}) == 0);
    BOOST_TEST(said() == "");
}

BOOST_AUTO_TEST_CASE(signals_reach_the_command)
{
    const auto running = start(
        {"stock", "--", "sh", "-c", goes_on("trap 'echo usr1' USR1; trap 'exit 5' TERM;")});
    running->expect("ready");
    running->signal(SIGUSR1);
    running->expect("usr1");
    running->signal(SIGTERM);
    BOOST_TEST(running->wait().code == 5);
    BOOST_TEST(!held("stock"));
}

BOOST_AUTO_TEST_CASE(a_signal_ends_the_wait)
{
    const auto holder = start({"stock", "--", "sh", "-c", "echo ready; read done"});
    holder->expect("ready");
    process waiting({"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh", tool, "run", "--url",
                     server.unix_url(), "--verbose", "stock", "--", "echo", "never"});
    waiting.expect("leasehold: waiting for 'stock', which another owner holds");
    waiting.signal(SIGTERM);
    BOOST_TEST(waiting.wait().signal == SIGTERM);
    BOOST_TEST(!waiting.read_line().has_value());
    holder->write_line("");
    BOOST_TEST(holder->wait().code == 0);
    BOOST_TEST(code_of({"--wait", "5s", "stock", "--", "true"}) == 0);
}

BOOST_AUTO_TEST_CASE(what_is_ignored_stays_ignored)
{
    process running({"/bin/sh", "-c", "trap '' HUP; exec \"$@\"", "sh", tool, "run", "--url",
                     server.unix_url(), "stock", "--", "sh", "-c",
                     "echo ready; read done; kill -HUP $$; echo alive"});
    running.expect("ready");
    running.signal(SIGHUP);
    running.write_line("");
    running.expect("alive");
    BOOST_TEST(running.wait().code == 0);
}

BOOST_AUTO_TEST_CASE(a_command_that_ignores_TERM_is_killed_before_the_lease_ends)
{
    const auto running = start(
        short_lease + words{"stock", "--", "sh", "-c", goes_on("trap 'echo term' TERM; echo $$;")});
    const pid_t shell = read_pid(*running);
    running->expect("ready");
    server.kill();
    const auto end = steady::now() + lease_time; // or earlier
    running->expect("term");
    BOOST_TEST(ends_within(shell, lease_time));
    BOOST_TEST((steady::now() < end));
    BOOST_TEST(running->wait(5s).code == 76); // and does not wait for the server to come back
    BOOST_TEST(said().find("not renewed in time") != std::string::npos, said());
}

BOOST_AUTO_TEST_CASE(a_command_that_obeys_TERM_has_its_time)
{
    const auto running = start(short_lease + words{"stock", "--", "sh", "-c",
                                                   goes_on("trap 'echo finishing; exit 0' TERM;")});
    running->expect("ready");
    server.kill();
    running->expect("finishing");
    BOOST_TEST(running->wait().code == 76);
}

BOOST_AUTO_TEST_CASE(a_supervisor_that_is_stopped_holds_nothing_up)
{
    const auto running = start(short_lease +
                               words{"stock", "--", "sh", "-c", goes_on("trap '' TERM; echo $$;")});
    const pid_t shell = read_pid(*running);
    running->expect("ready");
    running->pause();
    const auto end = steady::now() + lease_time; // or earlier
    BOOST_TEST(ends_within(shell, lease_time));
    BOOST_TEST((steady::now() < end));
    running->resume();
    BOOST_TEST(running->wait().code == 76);
}

BOOST_AUTO_TEST_CASE(a_supervisor_that_is_killed_takes_the_command_along)
{
    const auto running = start(
        short_lease + words{"stock", "--", "sh", "-c", goes_on("trap 'echo term' TERM; echo $$;")});
    const pid_t shell = read_pid(*running);
    running->expect("ready");
    running->signal(SIGKILL);
    const auto end = steady::now() + lease_time; // or earlier
    running->expect("term");
    BOOST_TEST(ends_within(shell, lease_time));
    BOOST_TEST((steady::now() < end));
}

BOOST_AUTO_TEST_CASE(a_guardian_that_is_killed_takes_the_command_along)
{
    const auto running = start({"stock", "--", "sh", "-c", goes_on("echo $PPID; echo $$;")});
    const pid_t guardian = read_pid(*running);
    const pid_t shell = read_pid(*running);
    running->expect("ready");
    BOOST_TEST_REQUIRE(guardian != running->pid());
    ::kill(guardian, SIGKILL);
    BOOST_TEST(running->wait().code == 70);
    BOOST_TEST(gone(shell));
    BOOST_TEST(!held("stock"));
}

BOOST_AUTO_TEST_CASE(a_guardian_that_is_stopped_holds_nothing_up)
{
    const auto running = start(short_lease + words{"stock", "--", "sh", "-c",
                                                   goes_on("trap '' TERM; echo $PPID; echo $$;")});
    const pid_t guardian = read_pid(*running);
    const pid_t shell = read_pid(*running);
    running->expect("ready");
    ::kill(guardian, SIGSTOP);
    server.kill();
    const auto end = steady::now() + lease_time; // or earlier
    BOOST_TEST(ends_within(shell, lease_time));
    BOOST_TEST((steady::now() < end));
    BOOST_TEST(running->wait().code == 76);
}

// In the process group, and in a session of its own, which no signal to the group reaches.
BOOST_DATA_TEST_CASE(nothing_outlives_the_lock, boost::unit_test::data::make({"", "setsid "}),
                     apart)
{
    const auto running = start({"stock", "--", "sh", "-c",
                                std::string(apart) +
                                    "sh -c 'echo $$; exec sleep 1000' & read done; "
                                    "exit 6"});
    const pid_t left = read_pid(*running);
    BOOST_TEST(!gone(left));
    running->write_line("");
    BOOST_TEST(running->wait().code == 6);
    BOOST_TEST(gone(left));
    BOOST_TEST(said().find("left behind") != std::string::npos, said());
}

// The server is there, and could be told at once that the lock is free.
BOOST_AUTO_TEST_CASE(the_lock_is_held_until_what_ignores_TERM_is_gone)
{
    const auto running = start(
        {"stock", "--", "sh", "-c",
         "sh -c 'trap \"echo term\" TERM; echo $$; while :; do sleep 0.02; done' & read done"});
    const pid_t left = read_pid(*running);
    process next({"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh", tool, "run", "--url",
                  server.unix_url(), "--verbose", "stock", "--", "echo", "in"});
    next.expect("leasehold: waiting for 'stock', which another owner holds");
    running->write_line("");
    running->expect("term"); // the command has ended, and this goes on
    BOOST_TEST(held("stock"));
    BOOST_TEST(!gone(left));
    do {
        // In this order: who is there afterwards was there when the key was looked at.
        const bool is_held = held("stock");
        BOOST_TEST_REQUIRE((is_held || gone(left)));
    } while (!ends_within(left, 20ms));
    BOOST_TEST(running->wait().code == 0);
    BOOST_TEST(said().find("left behind") != std::string::npos, said());
    BOOST_TEST(next.read_line(30s).value_or("").starts_with("leasehold: holding 'stock'"));
    next.expect("in");
    BOOST_TEST(next.wait().code == 0);
}

BOOST_AUTO_TEST_CASE(a_grandchild_in_a_session_of_its_own_is_killed_with_the_rest)
{
    const auto running = start(
        short_lease +
        words{"stock", "--", "sh", "-c",
              "setsid sh -c 'trap \"\" TERM; echo $$; while :; do sleep 0.02; done' & wait"});
    const pid_t apart = read_pid(*running);
    server.kill();
    const auto end = steady::now() + lease_time; // or earlier
    BOOST_TEST(ends_within(apart, lease_time));
    BOOST_TEST((steady::now() < end));
    BOOST_TEST(running->wait().code == 76);
}

BOOST_AUTO_TEST_CASE(a_lock_that_was_taken_away_ends_the_command)
{
    const auto running = start(
        {"--lease", "1s", "stock", "--", "sh", "-c", goes_on("trap '' TERM; echo $$;")});
    const pid_t shell = read_pid(*running);
    running->expect("ready");
    server.connect().done({"DEL", "stock"});
    BOOST_TEST(running->wait().code == 76);
    BOOST_TEST(gone(shell));
    BOOST_TEST(said().find("lost 'stock'") != std::string::npos, said());
}

BOOST_AUTO_TEST_CASE(a_command_may_enter_its_own_lock)
{
    const std::string inner = tool + " run --reenter stock -- sh -c 'echo $LEASEHOLD_FENCE'";
    const auto running = start({"stock", "--", "sh", "-c",
                                "echo $LEASEHOLD_FENCE; " + inner + "; echo $?; " + tool +
                                    " run --no-wait stock -- true; echo $?"});
    const std::string fence = running->read_line().value();
    BOOST_TEST(running->read_line().value() == fence);
    BOOST_TEST(running->read_line().value() == "0");
    BOOST_TEST(running->read_line().value() == "75"); // not without being asked to
    BOOST_TEST(running->wait().code == 0);
    BOOST_TEST(said().find("left behind") == std::string::npos, said());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace leasehold::test
