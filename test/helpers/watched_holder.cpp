// A process that takes locks as it is told, in lines, and says what it sees.
//
//   watched_holder URL LEASE_MS
//
//   lock NAME     → "held FENCE", or "error TEXT"; later "lost TEXT" when it is
//   try NAME      → the same
//   look          → "valid" or "not valid", at once: from a thread that needs none of the library's handlers
//   release       → "released", or "error TEXT"
//   wall          → the wall clock, in seconds since 1970
//   renewed       → how many renewals were confirmed
#include <leasehold/client.hpp>
#include <leasehold/mutex.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>

namespace {

using leasehold::error_code;

std::mutex output;

void say(const std::string& line)
{
    const std::lock_guard lock(output);
    std::cout << line << std::endl;
}

class holder
{
public:
    holder(const std::string& url, std::chrono::milliseconds lease) : locks_(context_, at(url))
    {
        how_.lease_time = lease;
        how_.backoff_floor = std::chrono::seconds(60);
        how_.backoff_ceiling = std::chrono::seconds(60);
        locks_.async_run([](error_code) {});
        thread_ = std::jthread([this] { context_.run(); });
    }

    ~holder()
    {
        locks_.cancel();
        work_.reset();
    }

    void obey(const std::string& verb)
    {
        if (verb == "lock" || verb == "try")
            return take(verb == "try");
        if (verb == "look")
            return say(lease_.valid() ? "valid" : "not valid");
        if (verb == "release") {
            lease_.async_release([](error_code code) { say(code ? "error " + code.message() : "released"); });
            return;
        }
        if (verb == "renewed")
            return say(std::to_string(locks_.stats().renewed));
        const auto wall = std::chrono::system_clock::now().time_since_epoch();
        say(std::to_string(std::chrono::duration_cast<std::chrono::seconds>(wall).count()));
    }

private:
    static leasehold::config at(const std::string& url)
    {
        leasehold::config where(url);
        where.reconnect = std::chrono::milliseconds(10);
        return where;
    }

    void take(bool once)
    {
        std::string name;
        std::cin >> name;
        const leasehold::mutex lock(locks_, name, how_);
        auto told = [this](error_code code, leasehold::lease got) {
            if (code)
                return say("error " + code.message());
            lease_ = std::move(got); // the other thread looks after it has been told
            lease_.async_wait_lost([](error_code why) {
                if (why != boost::asio::error::operation_aborted)
                    say("lost " + why.message());
            });
            say("held " + std::to_string(lease_.fence()));
        };
        if (once)
            lock.async_try_lock(std::move(told));
        else
            lock.async_lock(std::move(told));
    }

    boost::asio::io_context context_;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{context_.get_executor()};
    leasehold::client locks_;
    leasehold::lock_options how_;
    leasehold::lease lease_;
    std::jthread thread_;
};

} // namespace

int main(int count, char** words)
{
    if (count != 3)
        return 2;
    holder self(words[1], std::chrono::milliseconds(std::stoll(words[2])));
    for (std::string verb; std::cin >> verb;)
        self.obey(verb);
}
