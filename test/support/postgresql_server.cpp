#include "support/postgresql_server.hpp"

#include "support/unprivileged.hpp"

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

namespace leasehold::test {
namespace {

constexpr std::chrono::seconds postgresql_start_limit{200};

/// Debian stores the programs of each version in its own folder.
std::vector<std::filesystem::path> folders_of_versions()
{
    std::vector<std::filesystem::path> result;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", failed))
        result.push_back(entry.path() / "bin");
    return result;
}

std::string postgresql_program(const char* name)
{
    return find_program(name, folders_of_versions());
}

} // namespace

postgresql_server::postgresql_server(std::vector<std::string> settings)
    : settings_(std::move(settings))
{
    make_data("initdb", {"-D", directory_.file("data"), "-U", user, "-A", "trust", "-E", "UTF8",
                         "--locale=C", "--no-sync"});
    start();
}

postgresql_server::postgresql_server(const std::string& primary, std::vector<std::string> settings)
    : settings_(std::move(settings))
{
    make_data("pg_basebackup", {"-d", primary, "-D", directory_.file("data"),
                                "--write-recovery-conf", "--checkpoint=fast", "--no-sync"});
    start();
}

void postgresql_server::make_data(const char* program, const std::vector<std::string>& arguments)
{
    std::vector<std::string> command{"sh", "-c", R"("$@" >log 2>&1)", "sh",
                                     postgresql_program(program)};
    command.insert(command.end(), arguments.begin(), arguments.end());
    child made({.command = unprivileged(directory_.path(), command)});
    const auto ended = made.wait(postgresql_start_limit);
    if (!ended || ended->code != 0)
        throw std::runtime_error(std::string(program) + " failed:\n" + log());
}

// After SIGKILL, sessions of the server may live a little longer, and it does not start meanwhile.
void postgresql_server::start()
{
    for (int attempt = 1;; ++attempt) {
        try {
            return try_to_start();
        }
        catch (const std::runtime_error&) {
            if (attempt == 50)
                throw;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    }
}

void postgresql_server::try_to_start()
{
    std::vector<std::string> command{"sh",
                                     "-c",
                                     R"(exec "$@" >log 2>&1)",
                                     "sh",
                                     postgresql_program("postgres"),
                                     "-D",
                                     directory_.file("data"),
                                     "-k",
                                     socket_folder(),
                                     "-c",
                                     "listen_addresses=",
                                     "-c",
                                     "fsync=off"};
    for (const std::string& setting : settings_)
        command.insert(command.end(), {"-c", setting});
    server_ = child({.command = unprivileged(directory_.path(), command)});
    // The server has no event to wait for, so its file is polled until it is ready or ends.
    const auto limit = std::chrono::steady_clock::now() + postgresql_start_limit;
    while (!ready()) {
        if (!server_.running() || std::chrono::steady_clock::now() > limit)
            throw std::runtime_error("postgres does not start:\n" + log());
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

void postgresql_server::signal_all(int number)
{
    const std::string self = std::to_string(server_.pid());
    std::ifstream children("/proc/" + self + "/task/" + self + "/children");
    ::kill(server_.pid(), number);
    for (pid_t each = 0; children >> each;)
        ::kill(each, number);
}

void postgresql_server::pause()
{
    signal_all(SIGSTOP);
}

void postgresql_server::resume()
{
    signal_all(SIGCONT);
}

std::string postgresql_server::connection_text(const std::string& as) const
{
    return "host=" + socket_folder() + " user=" + as + " dbname=postgres";
}

bool postgresql_server::ready() const
{
    const std::string file = text_of(directory_.file("data") + "/postmaster.pid");
    return file.starts_with(std::to_string(server_.pid()) + '\n') &&
           file.find("\nready") != std::string::npos;
}

std::string postgresql_server::missing()
{
    for (const char* name : {"initdb", "pg_basebackup", "postgres"}) {
        if (postgresql_program(name).empty())
            return std::string(name) + " is not installed (package postgresql)";
    }
    return {};
}

} // namespace leasehold::test
