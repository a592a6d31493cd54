#include "support/mysql_server.hpp"

#include "support/unprivileged.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>

namespace leasehold::test {
namespace {

constexpr std::chrono::seconds mysql_start_limit{200};

std::string server_program()
{
    const char* const given = std::getenv("LEASEHOLD_TEST_MYSQLD");
    return given != nullptr ? given : find_program("mariadbd");
}

std::vector<std::string> in_shell(const char* script, std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(), {"sh", "-c", script, "sh"});
    return arguments;
}

} // namespace

mysql_server::mysql_server(std::uint16_t port, std::vector<std::string> settings)
    : port_(port), settings_(std::move(settings))
{
    initialize();
    start();
}

/// The tables of users. The script of MariaDB for this needs more packages than the server.
void mysql_server::initialize()
{
    const std::vector<std::string> mysql = in_shell(
        R"("$@" >log 2>&1)",
        {server_program(), "--no-defaults", "--initialize-insecure",
         "--datadir=" + directory_.file("data"), "--innodb-redo-log-capacity=8M"});
    const std::vector<std::string> mariadb = in_shell(
        R"(mkdir data && from=/usr/share/mysql && [ -d $from ] || from=/usr/share/mariadb
           { printf 'create database mysql;\nuse mysql;\nset @auth_root_socket=NULL;\n'
             for each in tables tables_data; do cat $from/*_system_$each.sql || exit; done
           } | "$@" >log 2>&1)",
        {server_program(), "--no-defaults", "--bootstrap", "--datadir=" + directory_.file("data"),
         "--tmpdir=" + directory_.path().string(), "--innodb-log-file-size=4M",
         "--innodb-buffer-pool-size=16M"});
    child initializing({.command = unprivileged(directory_.path(), is_mysql() ? mysql : mariadb)});
    const auto ended = initializing.wait(mysql_start_limit);
    if (!ended || ended->code != 0)
        throw std::runtime_error("the tables of users could not be created:\n" + log());
}

void mysql_server::start()
{
    std::vector<std::string> command{server_program(),
                                     "--no-defaults",
                                     "--datadir=" + directory_.file("data"),
                                     "--socket=" + socket(),
                                     "--bind-address=127.0.0.1",
                                     "--port=" + std::to_string(port_),
                                     "--pid-file=" + directory_.file("pid"),
                                     "--tmpdir=" + directory_.path().string(),
                                     "--innodb-buffer-pool-size=16M",
                                     "--innodb-flush-log-at-trx-commit=0"};
    if (is_mysql())
        command.insert(command.end(), {"--mysqlx=OFF", "--secure-file-priv=NULL", "--skip-log-bin",
                                       "--innodb-redo-log-capacity=8M"});
    else
        command.insert(command.end(),
                       {"--innodb-log-file-size=4M", "--skip-name-resolve", "--skip-log-bin"});
    for (const std::string& setting : settings_)
        command.push_back("--" + setting);
    ::unlink(socket().c_str());
    server_ = child(
        {.command = unprivileged(directory_.path(), in_shell(R"(exec "$@" >log 2>&1)", command))});
    // The server has no event to wait for, so it is polled until it answers or ends.
    const auto limit = std::chrono::steady_clock::now() + mysql_start_limit;
    while (!ready()) {
        if (!server_.running() || std::chrono::steady_clock::now() > limit)
            throw std::runtime_error("the server does not start:\n" + log());
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

void mysql_server::pause()
{
    ::kill(server_.pid(), SIGSTOP);
    // Until its last thread has stopped, it may still reply.
    siginfo_t stopped;
    ::waitid(P_PID, static_cast<id_t>(server_.pid()), &stopped, WSTOPPED | WNOWAIT);
}

void mysql_server::resume()
{
    ::kill(server_.pid(), SIGCONT);
}

bool mysql_server::ready() const
{
    const int one = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::strncpy(to.sun_path, socket().c_str(), sizeof to.sun_path - 1);
    const bool connected = ::connect(one, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    ::close(one);
    return connected;
}

bool mysql_server::is_mysql()
{
    return std::getenv("LEASEHOLD_TEST_MYSQLD") != nullptr;
}

std::string mysql_server::missing()
{
    return server_program().empty() ? "mariadbd is not installed (package mariadb-server-core)"
                                    : std::string();
}

} // namespace leasehold::test
