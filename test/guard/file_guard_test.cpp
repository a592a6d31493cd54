#include <boost/test/unit_test.hpp>

#include "guard/print.hpp"
#include "guard/rising_writers.hpp"
#include "guard/zombie.hpp"
#include "support/directory.hpp"

#include <leasehold/extras/guard/file.hpp>

#include <boost/system/errc.hpp>
#include <boost/system/system_error.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace {

using namespace leasehold::test;
namespace guard = leasehold::guard;
using guard::errc;
using leasehold::error_code;

void put(const std::filesystem::path& path, const std::string& text)
{
    std::ofstream(path, std::ios::binary) << text;
}

std::uint64_t newest(const guard::file& guarded)
{
    error_code failed;
    const std::uint64_t fence = guarded.newest_fence(failed);
    if (failed)
        throw boost::system::system_error(failed);
    return fence;
}

struct fixture
{
    temporary_directory directory;
    guard::file guarded{directory.path() / "data"};

    std::string data() const { return text_of(guarded.path()); }
};

/// A process that writes, and that the operating system stops before the write or in the middle of
/// it.
class writer
{
public:
    template <class Work>
    explicit writer(Work work) : pid_(::fork())
    {
        if (pid_ == 0)
            ::_exit(work());
    }
    writer(const writer&) = delete;
    writer& operator=(const writer&) = delete;
    ~writer()
    {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
        }
    }

    /// Returns when the process has stopped itself.
    void until_stopped() const
    {
        int status = 0;
        BOOST_TEST_REQUIRE(::waitpid(pid_, &status, WUNTRACED) == pid_);
        BOOST_TEST_REQUIRE(WIFSTOPPED(status));
    }

    void resume() const { ::kill(pid_, SIGCONT); }
    void kill() const { ::kill(pid_, SIGKILL); }

    /// Whether the process waits for the lock of that file (flock).
    bool waits_for(const std::filesystem::path& file) const
    {
        struct stat of = {};
        BOOST_TEST_REQUIRE(::stat(file.c_str(), &of) == 0);
        const std::string place = ':' + std::to_string(of.st_ino) + ' ';
        const std::string who = ' ' + std::to_string(pid_) + ' ';
        std::ifstream all("/proc/locks");
        for (std::string each; std::getline(all, each);) {
            if (each.find("-> FLOCK") != each.npos && each.find(place) != each.npos &&
                each.find(who) != each.npos)
                return true;
        }
        return false;
    }

    /// False: the process has ended before.
    bool until_it_waits_for(const std::filesystem::path& file) const
    {
        siginfo_t ended = {};
        while (!waits_for(file)) {
            BOOST_TEST_REQUIRE(
                ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0);
            if (ended.si_pid != 0)
                return false;
            std::this_thread::yield();
        }
        return true;
    }

    int ended()
    {
        int status = 0;
        BOOST_TEST_REQUIRE(::waitpid(std::exchange(pid_, -1), &status, 0) > 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }

private:
    pid_t pid_;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(file_guard, fixture)

BOOST_AUTO_TEST_CASE(writes_of_zombies_are_refused_after_the_holder_wrote)
{
    const zombies all;
    BOOST_TEST(guarded.replace(all.holder(), "holder") == error_code());
    BOOST_TEST(guarded.replace(all.first(), "first") == errc::stale_fence);
    BOOST_TEST(guarded.replace(all.second(), "second") == errc::stale_fence);
    BOOST_TEST(data() == "holder");
    BOOST_TEST(newest(guarded) == all.holder());
}

BOOST_AUTO_TEST_CASE(write_of_a_zombie_before_the_holder_is_overwritten)
{
    const zombies all;
    BOOST_TEST(guarded.replace(all.second(), "second") == error_code());
    BOOST_TEST(guarded.replace(all.first(), "first") == errc::stale_fence);
    BOOST_TEST(guarded.replace(all.holder(), "holder") == error_code());
    BOOST_TEST(data() == "holder");
}

BOOST_AUTO_TEST_CASE(holder_may_write_repeatedly)
{
    BOOST_TEST(guarded.replace(7, "one") == error_code());
    BOOST_TEST(guarded.replace(7, "two") == error_code());
    BOOST_TEST(guarded.replace(7, "two") == error_code());
    BOOST_TEST(data() == "two");
}

BOOST_AUTO_TEST_CASE(stopped_process_is_refused_after_a_newer_write)
{
    writer stopped([this] {
        std::raise(SIGSTOP);
        return guarded.replace(5, "stale") == errc::stale_fence ? 0 : 1;
    });
    stopped.until_stopped();
    BOOST_TEST(guarded.replace(6, "newer") == error_code());
    stopped.resume();
    BOOST_TEST(stopped.ended() == 0);
    BOOST_TEST(data() == "newer");
}

BOOST_AUTO_TEST_CASE(next_writer_waits_for_a_process_stopped_in_its_write)
{
    writer stopped([this] {
        const error_code result = guarded.write(5, [this] {
            put(guarded.path(), "stale");
            std::raise(SIGSTOP);
            put(guarded.path(), "stale again");
            return error_code();
        });
        return result ? 1 : 0;
    });
    stopped.until_stopped();
    // The file is locked, so another process can only write after this one.
    const int other = ::open(directory.file("data.lock").c_str(), O_RDWR | O_CLOEXEC);
    BOOST_TEST_REQUIRE(other >= 0);
    BOOST_TEST(::flock(other, LOCK_EX | LOCK_NB) == -1);
    ::close(other);
    writer next([this] { return guarded.replace(6, "newer") ? 1 : 0; });
    stopped.resume();
    BOOST_TEST(stopped.ended() == 0);
    BOOST_TEST(next.ended() == 0);
    BOOST_TEST(data() == "newer");
}

BOOST_AUTO_TEST_CASE(killed_writer_frees_the_file_and_keeps_its_fence)
{
    writer killed([this] {
        return guarded.write(5,
                             [] {
                                 std::raise(SIGKILL);
                                 return error_code();
                             })
                   ? 1
                   : 0;
    });
    BOOST_TEST(killed.ended() == -SIGKILL);
    BOOST_TEST(newest(guarded) == 5u);
    BOOST_TEST(guarded.replace(4, "older") == errc::stale_fence);
    BOOST_TEST(guarded.replace(5, "the same again") == error_code());
    BOOST_TEST(data() == "the same again");
}

BOOST_AUTO_TEST_CASE(writer_locks_the_new_file_after_removal_of_the_old)
{
    const auto file = directory.file("data.lock");
    const auto lock = [&file] {
        const int made = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        BOOST_TEST_REQUIRE(made >= 0);
        BOOST_TEST_REQUIRE(::flock(made, LOCK_EX) == 0);
        return made;
    };
    const int removed = lock();
    writer waiting([this] { return guarded.replace(5, "waited") ? 1 : 0; });
    BOOST_TEST_REQUIRE(waiting.until_it_waits_for(file));
    std::filesystem::remove(file);
    const int made_anew = lock();
    ::flock(removed, LOCK_UN); // the writer has the descriptor, too
    BOOST_TEST(waiting.until_it_waits_for(file));
    BOOST_TEST(!std::filesystem::exists(guarded.path()));
    ::flock(made_anew, LOCK_UN);
    BOOST_TEST(waiting.ended() == 0);
    BOOST_TEST(data() == "waited");
    ::close(removed);
    ::close(made_anew);
}

BOOST_AUTO_TEST_CASE(leftover_files_of_a_crash_do_not_prevent_a_write)
{
    put(directory.file("data.new"), "half of a fi");
    put(directory.file("data.fence.new"), "12");
    BOOST_TEST(newest(guarded) == 0u);
    BOOST_TEST(guarded.replace(9, "whole") == error_code());
    BOOST_TEST(data() == "whole");
    BOOST_TEST(newest(guarded) == 9u);
    BOOST_TEST(!std::filesystem::exists(directory.file("data.new")));
    BOOST_TEST(!std::filesystem::exists(directory.file("data.fence.new")));
}

BOOST_AUTO_TEST_CASE(fence_that_no_lease_can_have_is_refused)
{
    for (const std::uint64_t fence :
         {std::uint64_t(0), guard::largest_fence + 1, ~std::uint64_t(0)})
        BOOST_TEST(guarded.replace(fence, "x") == errc::invalid_fence);
    for (const char* const suffix : {"", ".fence", ".lock"}) // nothing was begun
        BOOST_TEST(!std::filesystem::exists(directory.file(std::string("data") + suffix)));
    BOOST_TEST(guarded.replace(guard::largest_fence, "x") == error_code());
    BOOST_TEST(newest(guarded) == guard::largest_fence);
}

BOOST_AUTO_TEST_CASE(damaged_fence_refuses_every_write)
{
    for (const char* text : {"", "12", "12 \n", "-1\n", "0\n", "twelve\n", "9223372036854775808\n",
                             "99999999999999999999999\n", "12\n13\n"}) {
        put(directory.file("data.fence"), text);
        BOOST_TEST_CONTEXT(text)
        {
            BOOST_TEST(guarded.replace(guard::largest_fence, "x") == errc::damaged_fence);
            error_code failed;
            BOOST_TEST(guarded.newest_fence(failed) == 0u);
            BOOST_TEST(failed == errc::damaged_fence);
        }
    }
    BOOST_TEST(!std::filesystem::exists(guarded.path()));
}

BOOST_AUTO_TEST_CASE(error_of_the_work_is_reported_and_its_fence_stays)
{
    const error_code full = make_error_code(boost::system::errc::no_space_on_device);
    BOOST_TEST(guarded.write(3, [&] { return full; }) == full);
    BOOST_CHECK_THROW((void)guarded.write(4, []() -> error_code { throw std::logic_error("odd"); }),
                      std::logic_error);
    BOOST_TEST(newest(guarded) == 4u);
    // The lock is free again.
    BOOST_TEST(guarded.replace(4, "x") == error_code());
}

BOOST_AUTO_TEST_CASE(missing_folder_is_reported_as_a_system_error)
{
    const guard::file nowhere(directory.path() / "none" / "data");
    BOOST_TEST((nowhere.replace(1, "x") == boost::system::errc::no_such_file_or_directory));
}

BOOST_AUTO_TEST_CASE(write_keeps_the_mode_of_the_file)
{
    put(guarded.path(), "before");
    BOOST_TEST_REQUIRE(::chmod(guarded.path().c_str(), 0640) == 0);
    BOOST_TEST(guarded.replace(1, "after") == error_code());
    struct stat now = {};
    BOOST_TEST_REQUIRE(::stat(guarded.path().c_str(), &now) == 0);
    BOOST_TEST((now.st_mode & 07777) == 0640u);
}

BOOST_AUTO_TEST_CASE(any_bytes_can_be_written)
{
    std::string bytes(1'000'000, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<char>(i * 31);
    BOOST_TEST(guarded.replace(1, bytes) == error_code());
    BOOST_TEST((data() == bytes));
    BOOST_TEST(guarded.replace(2, "") == error_code());
    BOOST_TEST(data().empty());
}

BOOST_AUTO_TEST_CASE(stored_fence_never_decreases_with_many_writers)
{
    struct connection
    {
        const guard::file& guarded;

        bool write(std::uint64_t fence)
        {
            const error_code result = guarded.replace(fence, std::to_string(fence));
            if (result && result != errc::stale_fence)
                throw boost::system::system_error(result);
            return !result;
        }
        std::uint64_t stored() { return newest(guarded); }
    };
    check_rising_writers([this] { return connection{guarded}; }, 4, 300);
    BOOST_TEST(data() == "300");
}

BOOST_AUTO_TEST_SUITE_END()
