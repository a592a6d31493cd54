#include "contender.hpp"

#include "crew.hpp"
#include "sample.hpp"
#include "session.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <ostream>
#include <sstream>
#include <stdexcept>

namespace leasehold::benchmark {
namespace {

// If there are more waits than this, only every second one is kept, then every fourth …
constexpr std::size_t most_waits = 50'000;

class recorder
{
public:
    explicit recorder(std::size_t tasks) : grants(tasks) {}

    void add(std::size_t task, double wait)
    {
        ++grants[task];
        if (++seen_ % every_ != 0)
            return;
        waits.push_back(wait);
        if (waits.size() < most_waits)
            return;
        for (std::size_t i = 0; 2 * i + 1 < waits.size(); ++i)
            waits[i] = waits[2 * i + 1];
        waits.resize(waits.size() / 2);
        every_ *= 2;
    }

    std::vector<std::uint64_t> grants;
    std::vector<double> waits;

private:
    std::uint64_t seen_ = 0;
    std::uint64_t every_ = 1;
};

asio::awaitable<void> take_turns(client& locks, const contender_task& given, std::size_t task,
                                 recorder& seen)
{
    lock_options options;
    if (!given.local_handoff)
        options.handoff_count = 0;
    const mutex shared(locks, "contention", options);
    for (;;) {
        const steady::time_point began = steady::now();
        if (began >= given.end)
            co_return;
        lease held = co_await shared.async_lock();
        const steady::time_point got = steady::now();
        if (got >= given.begin && got < given.end)
            seen.add(task, seconds(got - began));
        co_await held.async_release();
    }
}

std::chrono::steady_clock::rep since_epoch(steady::time_point t)
{
    return t.time_since_epoch().count();
}

} // namespace

std::vector<std::string> to_words(const contender_task& given)
{
    return {given.url,
            std::to_string(given.clients),
            std::to_string(given.tasks),
            given.local_handoff ? "1" : "0",
            std::to_string(since_epoch(given.begin)),
            std::to_string(since_epoch(given.end))};
}

int contend(const std::vector<std::string>& words, std::ostream& out)
{
    if (words.size() != 6)
        throw std::runtime_error("a contender has six arguments");
    const auto time = [](const std::string& text) {
        return steady::time_point(steady::duration(std::strtoll(text.c_str(), nullptr, 10)));
    };
    contender_task given;
    given.url = words[0];
    given.clients = std::strtoull(words[1].c_str(), nullptr, 10);
    given.tasks = std::strtoull(words[2].c_str(), nullptr, 10);
    given.local_handoff = words[3] == "1";
    given.begin = time(words[4]);
    given.end = time(words[5]);

    recorder seen(given.clients * given.tasks);
    asio::io_context context(1);
    std::vector<std::unique_ptr<session>> sessions;
    crew all(context);
    for (std::size_t i = 0; i < given.clients; ++i) {
        sessions.push_back(std::make_unique<session>(context, given.url));
        for (std::size_t j = 0; j < given.tasks; ++j)
            all.add(take_turns(sessions.back()->locks(), given, i * given.tasks + j, seen));
    }
    all.wait();
    session::close(context, sessions);

    out << seen.grants.size();
    for (const std::uint64_t each : seen.grants)
        out << ' ' << each;
    out << '\n' << seen.waits.size();
    for (const double each : seen.waits)
        out << ' ' << each;
    out << "\nend\n";
    return 0;
}

contender_result read_result(const std::string& text)
{
    std::istringstream in(text);
    contender_result out;
    for (std::vector<double>* const into : {&out.grants, &out.waits}) {
        std::size_t count = 0;
        in >> count;
        into->resize(count);
        for (double& each : *into)
            in >> each;
    }
    std::string last;
    in >> last;
    if (last != "end")
        throw std::runtime_error("the results of a process of the contest are incomplete");
    return out;
}

} // namespace leasehold::benchmark
