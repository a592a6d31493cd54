// `leasehold run`, as processes that lock at the test's own server.
#include "support/client_thread.hpp"
#include "support/directory.hpp"
#include "support/process.hpp"
#include "support/redis_server.hpp"
#include "tool/terminal_session.hpp"
#include "tool/words.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
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

/// A shell that prints "ready" and then runs until it is ended.
std::string endless_script(const std::string& before = {})
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

    /// `leasehold run` with these arguments. Its messages are written to a file.
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

    void wait_until_said(const std::string& text)
    {
        wait_until([&] { return said().find(text) != std::string::npos; });
    }
};

/// Leases that end while the test runs, with room for a busy machine: KILL comes 1.2 seconds before
/// the end.
const words short_lease{"--lease", "3s", "--term-before", "50%", "--kill-before", "40%"};
constexpr auto lease_time = 3s;

} // namespace

BOOST_FIXTURE_TEST_SUITE(tool_run, fixture)

BOOST_AUTO_TEST_CASE(exit_code_is_that_of_the_command)
{
    BOOST_TEST(code_of({"stock", "--", "true"}) == 0);
    BOOST_TEST(code_of({"stock", "--", "sh", "-c", "exit 3"}) == 3);
    BOOST_TEST(code_of({"stock", "--", "sh", "-c", "kill -9 $$"}) == 128 + SIGKILL);
    BOOST_TEST(code_of({"stock", "--shell", "--", "exit", "4"}) == 4);
    BOOST_TEST(said() == "");
}

BOOST_AUTO_TEST_CASE(command_gets_key_owner_and_fence_of_its_lock)
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

BOOST_AUTO_TEST_CASE(held_lock_is_reported_busy_unless_released_in_time)
{
    const auto holder = start({"stock", "--", "sh", "-c", "echo ready; read done"});
    holder->expect("ready");
    BOOST_TEST(code_of({"--no-wait", "stock", "--", "true"}) == 75);
    BOOST_TEST(said().find("held by client") != std::string::npos);
    BOOST_TEST(code_of({"--wait", "1s", "stock", "--", "true"}) == 75);
    // One of the two keys is held, and the other is not kept.
    BOOST_TEST(code_of({"--wait=1s", "another", "stock", "--", "true"}) == 75);
    BOOST_TEST(!held("another"));
    const auto next = start({"stock", "--", "echo", "in"});
    holder->write_line("");
    BOOST_TEST(holder->wait().code == 0);
    next->expect("in");
    BOOST_TEST(next->wait().code == 0);
}

// For users that look up the holder of a lock and its purpose.
BOOST_AUTO_TEST_CASE(client_has_the_name_of_the_command)
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
    // In a shell line, the first word that is the name of a command.
    BOOST_TEST(known_as({"--shell", "stock", "--", line}) == "echo");
    BOOST_TEST(known_as({"--shell", "stock", "--", " A=1 B_2=", "/usr/bin/env", line}) == "env");
    BOOST_TEST(known_as({"--shell", "stock", "--", "(" + line + ")"}) == "sh");
    BOOST_TEST(known_as({"--shell", "stock", "--", "\"$0\" -c 'exit 0'; " + line}) == "sh");
}

BOOST_AUTO_TEST_CASE(unreachable_store_or_wrong_type_has_its_exit_code)
{
    BOOST_TEST(code_of({"--url", "unix:///nowhere", "--wait", "50ms", "stock", "--", "true"}) ==
               77);
    server.connect().done({"LPUSH", "list", "value"});
    BOOST_TEST(code_of({"list", "--", "true"}) == 2);
}

BOOST_AUTO_TEST_CASE(command_that_cannot_be_started_has_its_exit_code)
{
    BOOST_TEST(code_of({"stock", "--", "/no/such/program"}) == 127);
    BOOST_TEST(said() == "leasehold: /no/such/program: No such file or directory\n");
    BOOST_TEST(code_of({"stock", "--", "/etc/passwd"}) == 126);
    BOOST_TEST(!held("stock"));
}

BOOST_AUTO_TEST_CASE(invalid_argument_is_named)
{
    const auto refused = [&](const words& arguments, const std::string& text) {
        BOOST_TEST(code_of(arguments) == 2, text);
        BOOST_TEST(said().find(text) != std::string::npos, said());
    };
    refused({"--", "true"}, "KEY is missing");
    refused({"stock"}, "the command is missing");
    refused({"stock", "stock", "--", "true"}, "KEY 'stock' is given twice");
    refused({"stock", "a\nb", "--", "true"}, "line feed");
    refused({"leasehold:x", "--", "true"}, "leasehold:x");
    refused({"--lease", "5", "stock", "--", "true"}, "--lease is '5'; it must be");
    refused({"--lease", "1ms", "stock", "--", "true"}, "lease_time");
    refused({"--lease"}, "--lease needs a value: TIME");
    refused({"--shell=yes", "stock", "--", "true"}, "--shell takes no value");
    refused({"--frob", "stock", "--", "true"}, "unknown option '--frob'; allowed: --url, ");
    refused({"--wait", "1s", "--no-wait", "stock", "--", "true"}, "exclude each other");
    refused({"--quiet", "--verbose", "stock", "--", "true"}, "exclude each other");
    refused({"--term-before", "120%", "stock", "--", "true"}, "--term-before is '120%'");
    refused({"--term-before", "60%", "stock", "--", "true"}, "at most half of --lease");
    refused({"--kill-before", "20%", "stock", "--", "true"}, "shorter than --term-before");
    refused({"--url", "redis://host:99999", "stock", "--", "true"}, "port is '99999'");
    refused({"--url", "memory:", "stock", "--", "true"}, "keeps the locks in this process");
    refused({"--reenter", "stock", "--", "true"}, "--reenter needs LEASEHOLD_KEY");
}

// With several keys, the end of a key would be unclear.
BOOST_AUTO_TEST_CASE(single_key_may_contain_a_line_feed)
{
    BOOST_TEST(code_of({"a\nb", "--", "true"}) == 0);
    BOOST_TEST(said() == "");
}

BOOST_AUTO_TEST_CASE(signals_reach_the_command)
{
    const auto running = start(
        {"stock", "--", "sh", "-c", endless_script("trap 'echo usr1' USR1; trap 'exit 5' TERM;")});
    running->expect("ready");
    running->signal(SIGUSR1);
    running->expect("usr1");
    running->signal(SIGTERM);
    BOOST_TEST(running->wait().code == 5);
    BOOST_TEST(!held("stock"));
}

BOOST_AUTO_TEST_CASE(signal_ends_the_wait_for_a_lock)
{
    const auto holder = start({"stock", "--", "sh", "-c", "echo ready; read done"});
    holder->expect("ready");
    process waiting({"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh", tool, "run", "--url",
                     server.unix_url(), "--verbose", "stock", "--", "echo", "never"});
    BOOST_TEST(waiting.read_line().value_or("").starts_with("leasehold: waiting for 'stock': "));
    waiting.signal(SIGTERM);
    BOOST_TEST(waiting.wait().signal == SIGTERM);
    BOOST_TEST(!waiting.read_line().has_value());
    holder->write_line("");
    BOOST_TEST(holder->wait().code == 0);
    BOOST_TEST(code_of({"--wait", "5s", "stock", "--", "true"}) == 0);
}

BOOST_AUTO_TEST_CASE(ignored_signal_stays_ignored_in_the_command)
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

BOOST_AUTO_TEST_CASE(command_that_ignores_TERM_is_killed_before_the_lease_ends)
{
    const auto running = start(
        short_lease +
        words{"stock", "--", "sh", "-c", endless_script("trap 'echo term' TERM; echo $$;")});
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

BOOST_AUTO_TEST_CASE(command_that_obeys_TERM_has_time_to_finish)
{
    const auto running = start(
        short_lease +
        words{"stock", "--", "sh", "-c", endless_script("trap 'echo finishing; exit 0' TERM;")});
    running->expect("ready");
    server.kill();
    running->expect("finishing");
    BOOST_TEST(running->wait().code == 76);
}

BOOST_AUTO_TEST_CASE(stopped_supervisor_does_not_delay_the_kill)
{
    const auto running = start(
        short_lease + words{"stock", "--", "sh", "-c", endless_script("trap '' TERM; echo $$;")});
    const pid_t shell = read_pid(*running);
    running->expect("ready");
    running->pause();
    const auto end = steady::now() + lease_time; // or earlier
    BOOST_TEST(ends_within(shell, lease_time));
    BOOST_TEST((steady::now() < end));
    running->resume();
    BOOST_TEST(running->wait().code == 76);
}

BOOST_AUTO_TEST_CASE(command_ends_when_its_supervisor_is_killed)
{
    const auto running = start(
        short_lease +
        words{"stock", "--", "sh", "-c", endless_script("trap 'echo term' TERM; echo $$;")});
    const pid_t shell = read_pid(*running);
    running->expect("ready");
    running->signal(SIGKILL);
    const auto end = steady::now() + lease_time; // or earlier
    running->expect("term");
    BOOST_TEST(ends_within(shell, lease_time));
    BOOST_TEST((steady::now() < end));
}

BOOST_AUTO_TEST_CASE(command_ends_when_its_guardian_is_killed)
{
    const auto running = start({"stock", "--", "sh", "-c", endless_script("echo $PPID; echo $$;")});
    const pid_t guardian = read_pid(*running);
    const pid_t shell = read_pid(*running);
    running->expect("ready");
    BOOST_TEST_REQUIRE(guardian != running->pid());
    ::kill(guardian, SIGKILL);
    BOOST_TEST(running->wait().code == 70);
    BOOST_TEST(gone(shell));
    BOOST_TEST(!held("stock"));
}

BOOST_AUTO_TEST_CASE(stopped_guardian_does_not_delay_the_kill)
{
    const auto running = start(
        short_lease +
        words{"stock", "--", "sh", "-c", endless_script("trap '' TERM; echo $PPID; echo $$;")});
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

// In the process group, and in its own session, which no signal to the group reaches.
BOOST_DATA_TEST_CASE(background_process_of_the_command_is_ended,
                     boost::unit_test::data::make({"", "setsid "}), apart)
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

// The server runs, so the lock could be released at once.
BOOST_AUTO_TEST_CASE(lock_is_held_until_a_process_that_ignores_TERM_ends)
{
    const auto running = start(
        {"stock", "--", "sh", "-c",
         "sh -c 'trap \"echo term\" TERM; echo $$; while :; do sleep 0.02; done' & read done"});
    const pid_t left = read_pid(*running);
    process next({"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh", tool, "run", "--url",
                  server.unix_url(), "--verbose", "stock", "--", "echo", "in"});
    BOOST_TEST(next.read_line().value_or("").starts_with("leasehold: waiting for 'stock': "));
    running->write_line("");
    running->expect("term"); // the command has ended, and this process continues
    BOOST_TEST(held("stock"));
    BOOST_TEST(!gone(left));
    do {
        // In this order: a process that exists afterwards existed when the key was read.
        const bool is_held = held("stock");
        BOOST_TEST_REQUIRE((is_held || gone(left)));
    } while (!ends_within(left, 20ms));
    BOOST_TEST(running->wait().code == 0);
    BOOST_TEST(said().find("left behind") != std::string::npos, said());
    BOOST_TEST(next.read_line(30s).value_or("").starts_with("leasehold: holding 'stock'"));
    next.expect("in");
    BOOST_TEST(next.wait().code == 0);
}

BOOST_AUTO_TEST_CASE(grandchild_in_its_own_session_is_killed_too)
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

BOOST_AUTO_TEST_CASE(loss_of_the_lock_ends_the_command)
{
    const auto running = start(
        {"--lease", "1s", "stock", "--", "sh", "-c", endless_script("trap '' TERM; echo $$;")});
    const pid_t shell = read_pid(*running);
    running->expect("ready");
    server.connect().done({"DEL", "stock"});
    BOOST_TEST(running->wait().code == 76);
    BOOST_TEST(gone(shell));
    BOOST_TEST(said().find("lost 'stock'") != std::string::npos, said());
}

BOOST_AUTO_TEST_CASE(command_may_acquire_its_own_lock_again)
{
    const std::string inner = tool + " run --reenter stock -- sh -c 'echo $LEASEHOLD_FENCE'";
    const auto running = start({"stock", "--", "sh", "-c",
                                "echo $LEASEHOLD_FENCE; " + inner + "; echo $?; " + tool +
                                    " run --no-wait stock -- true; echo $?"});
    const std::string fence = running->read_line().value();
    BOOST_TEST(running->read_line().value() == fence);
    BOOST_TEST(running->read_line().value() == "0");
    BOOST_TEST(running->read_line().value() == "75"); // the lock is not reentrant without --reenter
    BOOST_TEST(running->wait().code == 0);
    BOOST_TEST(said().find("left behind") == std::string::npos, said());
}

BOOST_AUTO_TEST_CASE(missing_right_is_a_fault_of_the_store)
{
    resp_client client = server.connect();
    client.done({"ACL", "SETUSER", "locks", "on", ">secret", "~*", "&*", "+@all", "-set",
                 "-evalsha", "-eval"});
    BOOST_TEST(code_of({"--url", url_for("locks", server.unix_url()), "stock", "--", "true"}) ==
               77);
    BOOST_TEST(said().find("NOPERM") != std::string::npos, said());
}

BOOST_AUTO_TEST_CASE(earliest_deadline_of_several_keys_ends_the_command)
{
    const auto holder = start({"b", "--", "sh", "-c", "echo ready; read done"});
    holder->expect("ready");
    const auto running = start({"--lease", "6s", "--term-before", "10%", "--kill-before", "5%", "a",
                                "b", "--", "sh", "-c", endless_script("trap 'exit 0' TERM;")});
    // Until "a" is renewed for the first time, its lease ends before that of "b".
    resp_client client = server.connect();
    wait_until([&] {
        const auto left = client.integer({"PTTL", "a"});
        return left > 0 && left < 4'800;
    });
    holder->write_line("");
    running->expect("ready");
    server.pause();
    BOOST_TEST(running->wait().code == 76);
    BOOST_TEST(said().find("not renewed in time; the command was ended before the lease expired") !=
                   std::string::npos,
               said());
    BOOST_TEST(said().find("lost 'a'") == std::string::npos, said());
    server.resume();
}

BOOST_AUTO_TEST_CASE(key_that_cannot_be_released_does_not_delay_the_others)
{
    resp_client client = server.connect();
    client.done({"ACL", "SETUSER", "locks", "on", ">secret", "~*", "&*", "+@all"});
    const auto running = start({"--lease", "60s", "--url", url_for("locks", server.unix_url()), "a",
                                "m", "z", "--", "sh", "-c", "echo ready; read done; exit 4"});
    running->expect("ready");
    client.done({"SET", "m", "another"});
    running->write_line("");
    BOOST_TEST(running->wait().code == 76);
    BOOST_TEST(said().find("key 'm'") != std::string::npos, said());
    BOOST_TEST(said().find(": not released: ") != std::string::npos, said());
    BOOST_TEST(!held("a"));
    BOOST_TEST(held("m"));
    BOOST_TEST(!held("z"));
}

BOOST_AUTO_TEST_CASE(command_is_killed_in_time_despite_a_late_renewal)
{
    const auto running = start(
        short_lease +
        words{"stock", "--", "sh", "-c", endless_script("trap 'echo term' TERM; echo $$;")});
    const pid_t shell = read_pid(*running);
    running->expect("ready");
    const auto begin = steady::now();
    server.pause();
    running->expect("term");
    server.resume(); // the lease is renewed, and the command ignores TERM
    BOOST_TEST(ends_within(shell, lease_time));
    BOOST_TEST((steady::now() < begin + lease_time));
    BOOST_TEST(running->wait().code == 76);
}

BOOST_AUTO_TEST_CASE(lost_store_delays_the_exit_no_longer_than_the_lease)
{
    const auto running = start(
        {"--lease", "2s", "stock", "--", "sh", "-c", "echo ready; read done; exit 4"});
    running->expect("ready");
    server.kill();
    const auto end = steady::now() + 2s; // or earlier
    running->write_line("");
    wait_until_said("leasehold: the command has ended; releasing its locks: server " +
                    server.socket());
    BOOST_TEST(running->wait(5s).code == 4);
    BOOST_TEST((steady::now() < end + 500ms)); // for a busy machine
    BOOST_TEST(said().find("'stock' is not released (server " + server.socket()) !=
                   std::string::npos,
               said());
}

BOOST_AUTO_TEST_CASE(signal_ends_the_wait_for_a_release)
{
    const auto running = start(
        {"--lease", "60s", "stock", "--", "sh", "-c", "echo ready; read done; exit 4"});
    running->expect("ready");
    server.connect().done({"CONFIG", "SET", "min-replicas-to-write", "1"});
    running->write_line("");
    wait_until_said("leasehold: the command has ended; releasing its locks: ");
    BOOST_TEST(said().find("NOREPLICAS") != std::string::npos, said());
    running->signal(SIGTERM);
    BOOST_TEST(running->wait(5s).code == 4);
    BOOST_TEST(said().find("; it expires in ") != std::string::npos, said());
    BOOST_TEST(held("stock"));
}

BOOST_AUTO_TEST_CASE(lock_is_held_at_least_for_the_given_time)
{
    const auto began = steady::now();
    const auto running = start(
        {"--hold-at-least", "3s", "--verbose", "stock", "--", "sh", "-c", "exit 3"});
    wait_until_said("leasehold: the command has ended; holding its locks for ");
    BOOST_TEST(held("stock"));
    BOOST_TEST(running->wait(30s).code == 3);
    BOOST_TEST((steady::now() - began >= 3s));
    BOOST_TEST(!held("stock"));
}

BOOST_AUTO_TEST_CASE(signal_ends_the_time_that_a_lock_is_held_at_least)
{
    const auto running = start(
        {"--hold-at-least", "1h", "--verbose", "stock", "--", "sh", "-c", "exit 4"});
    wait_until_said("leasehold: the command has ended; holding its locks for ");
    running->signal(SIGUSR1);
    running->signal(SIGTERM);
    BOOST_TEST(running->wait(30s).code == 4);
    BOOST_TEST(!held("stock"));
}

// As timeout(1) does. A signal for a stopped process waits until the process continues.
BOOST_AUTO_TEST_CASE(command_that_is_stopped_is_reported_and_can_be_ended)
{
    const auto running = start(
        {"stock", "--", "sh", "-c", endless_script("trap 'echo term; exit 5' TERM; echo $$;")});
    const pid_t shell = read_pid(*running);
    running->expect("ready");
    ::kill(shell, SIGSTOP);
    wait_until_said("leasehold: the command is stopped (SIGSTOP); the locks are held until");
    BOOST_TEST(held("stock"));
    running->signal(SIGTERM);
    running->expect("term");
    BOOST_TEST(running->wait().code == 5);
}

BOOST_AUTO_TEST_CASE(command_that_is_stopped_continues_with_its_run)
{
    const auto running = start({"stock", "--", "sh", "-c", "echo $$; read done; exit 5"});
    const pid_t shell = read_pid(*running);
    ::kill(shell, SIGSTOP);
    wait_until_said("the command is stopped (SIGSTOP)");
    running->signal(SIGCONT);
    running->write_line("");
    BOOST_TEST(running->wait().code == 5);
}

BOOST_AUTO_TEST_CASE(command_reads_the_standard_input_as_it_is_given)
{
    const auto running = start({"stock", "--", "cat"});
    running->write_line("one");
    running->expect("one");
    running->close_input();
    BOOST_TEST(running->wait().code == 0);
}

BOOST_AUTO_TEST_CASE(command_gets_the_foreground_of_the_terminal_that_it_reads)
{
    terminal_session session({tool, "run", "stock", "--", "sh", "-c",
                              "read one; echo \"got $one\"; read two; echo \"never\""},
                             {{"LEASEHOLD_URL", server.unix_url()}});
    session.type("first\n");
    session.read_until("got first");
    session.type("\x03"); // ^C
    BOOST_TEST(session.wait() == 128 + SIGINT);
    BOOST_TEST(!held("stock"));
}

// The session has no shell that could continue a job, so that only the command stops.
BOOST_AUTO_TEST_CASE(command_that_is_stopped_from_the_terminal_can_be_ended_from_there)
{
    terminal_session session(
        {tool, "run", "stock", "--", "sh", "-c", "read one; echo \"got $one\"; read two"},
        {{"LEASEHOLD_URL", server.unix_url()}});
    session.type("first\n");
    session.read_until("got first");
    session.type("\x1a"); // ^Z
    session.read_until("leasehold: the command is stopped (SIGTSTP)");
    session.type("\x03"); // ^C
    BOOST_TEST(session.wait() == 128 + SIGINT);
}

BOOST_AUTO_TEST_CASE(job_that_is_stopped_from_the_terminal_can_continue)
{
    terminal_session session(
        {"sh", "-m", "-c",
         tool + " run --lease 60s stock -- sh -c 'read one; echo \"got $one\"; read two; "
                "echo \"then $two\"; exit 5'; echo \"stopped $?\"; fg; echo \"ended $?\""},
        {{"LEASEHOLD_URL", server.unix_url()}});
    session.type("first\n");
    session.read_until("got first");
    session.type("\x1a"); // ^Z
    session.read_until("stopped " + std::to_string(128 + SIGTSTP));
    session.type("second\n");
    session.read_until("then second");
    session.read_until("ended 5");
    BOOST_TEST(session.wait() == 0);
}

BOOST_AUTO_TEST_CASE(end_of_the_command_is_noticed_if_SIGCHLD_is_ignored)
{
    process running({"/bin/sh", "-c", "trap '' CHLD; exec \"$@\"", "sh", tool, "run", "--url",
                     server.unix_url(), "stock", "--", "sh", "-c", "exit 3"});
    BOOST_TEST(running.wait(5s).code == 3);
}

BOOST_AUTO_TEST_CASE(wait_is_explained_by_the_holder)
{
    const auto holder = start({"stock", "--", "sh", "-c", "echo ready; read done"});
    holder->expect("ready");
    const auto next = start({"stock", "--", "true"});
    wait_until_said("leasehold: waiting for 'stock': server " + server.socket() +
                    ", held by client ");
    BOOST_TEST(said().find(" (sh on ") != std::string::npos, said());
    holder->write_line("");
    BOOST_TEST(holder->wait().code == 0);
    BOOST_TEST(next->wait().code == 0);
    // Each reason is printed once.
    BOOST_TEST(said().find('\n') == said().size() - 1, said());
}

BOOST_AUTO_TEST_CASE(wait_with_quiet_is_not_explained)
{
    const auto holder = start({"stock", "--", "sh", "-c", "echo ready; read done"});
    holder->expect("ready");
    process waiting({"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh", tool, "run", "--url",
                     server.unix_url(), "--quiet", "--wait", "1500ms", "stock", "--", "true"});
    // Only the error at the end of the wait.
    BOOST_TEST(waiting.read_line().value_or("").starts_with("leasehold: server "));
    BOOST_TEST(!waiting.read_line().has_value());
    BOOST_TEST(waiting.wait().code == 75);
    holder->write_line("");
    BOOST_TEST(holder->wait().code == 0);
}

BOOST_AUTO_TEST_CASE(wait_is_explained_by_the_failure_of_the_store)
{
    const auto explained = [&] {
        std::filesystem::remove(messages); // of the previous run
        auto running = start({"stock", "--", "true"});
        wait_until_said("leasehold: waiting for 'stock': server " + server.socket());
        return running;
    };
    server.pause();
    const auto silent = explained();
    BOOST_TEST(said().find(": no reply yet\n") != std::string::npos, said());
    server.resume();
    BOOST_TEST(silent->wait().code == 0);

    server.connect().done({"CONFIG", "SET", "min-replicas-to-write", "1"});
    const auto refused = explained();
    BOOST_TEST(said().find(", answered 'NOREPLICAS ") != std::string::npos, said());
    server.connect().done({"CONFIG", "SET", "min-replicas-to-write", "0"});
    BOOST_TEST(refused->wait().code == 0);

    server.kill();
    const auto unreachable = explained();
    BOOST_TEST(said().find("no reply yet") == std::string::npos, said());
    server.start();
    BOOST_TEST(unreachable->wait().code == 0);
}

// Needs root, because it needs a process of another user: a copy of setpriv(1) that has the rights
// of root.
boost::test_tools::assertion_result is_root(boost::unit_test::test_unit_id)
{
    return ::geteuid() == 0;
}

struct other_user : fixture
{
    const std::string own_tool = directory.file("leasehold");
    const std::string as_root = directory.file("setpriv");

    other_user()
    {
        std::filesystem::permissions(std::filesystem::path(own_tool).parent_path(),
                                     std::filesystem::perms(0755));
        std::filesystem::copy_file(tool, own_tool);
        std::filesystem::copy_file("/usr/bin/setpriv", as_root);
        std::filesystem::permissions(as_root, std::filesystem::perms(04755));
    }

    /// `leasehold run` as a user that may not signal the processes of root.
    std::unique_ptr<process> start_unprivileged(const words& arguments)
    {
        return std::make_unique<process>(words{"/bin/sh", "-c", "exec \"$@\" 2>" + messages, "sh",
                                               "setpriv", "--reuid=65534", "--regid=65534",
                                               "--clear-groups", own_tool, "run"} +
                                             arguments,
                                         environment_t{{"LEASEHOLD_URL", other_users.tcp_url()}});
    }

    /// Starts a process of root in the background, and prints its id.
    std::string roots_sleep() const
    {
        return as_root + " --reuid=0 sh -c 'trap \"\" TERM; echo $$; exec sleep 1000' & ";
    }

    redis_server other_users{{}, {.tcp = true}};
};

BOOST_FIXTURE_TEST_CASE(process_of_another_user_that_outlives_the_lock_is_reported, other_user,
                        *boost::unit_test::precondition(is_root))
{
    const auto running = start_unprivileged(
        {"--lease", "2s", "stock", "--", "sh", "-c", roots_sleep() + "wait"});
    const pid_t root = read_pid(*running);
    other_users.connect().done({"SET", "stock", "another"});
    wait_until_said("leasehold: process " + std::to_string(root) +
                    " belongs to user 'root' and cannot be signalled");
    BOOST_TEST(running->wait(5s).code == 78);
    BOOST_TEST(!gone(root));
    BOOST_TEST(said().find("still run without the locks: 1") != std::string::npos, said());
    BOOST_TEST(said().find("left behind") == std::string::npos, said());
    ::kill(root, SIGKILL);
}

BOOST_FIXTURE_TEST_CASE(lock_is_held_while_a_process_of_another_user_runs, other_user,
                        *boost::unit_test::precondition(is_root))
{
    const auto running = start_unprivileged(
        {"--lease", "2s", "stock", "--", "sh", "-c", roots_sleep() + "read done; exit 5"});
    const pid_t root = read_pid(*running);
    running->write_line("");
    wait_until_said("leasehold: process " + std::to_string(root) + " belongs to user 'root'");
    BOOST_TEST(running->running());
    BOOST_TEST(other_users.connect().integer({"EXISTS", "stock"}) == 1);
    ::kill(root, SIGKILL);
    BOOST_TEST(running->wait(5s).code == 5);
    BOOST_TEST(said().find("left behind") == std::string::npos, said());
    BOOST_TEST(other_users.connect().integer({"EXISTS", "stock"}) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace leasehold::test
