#ifndef LEASEHOLD_TEST_TOOL_TOOL_RUNS_HPP
#define LEASEHOLD_TEST_TOOL_TOOL_RUNS_HPP

#include "support/client_thread.hpp"
#include "support/directory.hpp"
#include "support/process.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::test {

inline const std::string tool = LEASEHOLD_TEST_TOOL;

/// The result of a run of the tool.
struct ran
{
    int code = -1;
    std::vector<std::string> lines{}; ///< The lines of the standard output.
    std::string said{};               ///< The text of the standard error output.

    [[nodiscard]] std::string text() const
    {
        std::string all;
        for (const std::string& each : lines)
            all.append(each).append("\n");
        return all;
    }
    [[nodiscard]] bool has(const std::string& part) const
    {
        return text().find(part) != std::string::npos;
    }
    [[nodiscard]] bool says(const std::string& part) const
    {
        return said.find(part) != std::string::npos;
    }
};

/// Runs of the tool, one after another.
class tool_runs
{
public:
    using words = std::vector<std::string>;

    /// @param output The target of the standard output, as in a shell; empty: the test.
    std::unique_ptr<process> start(const words& arguments, const std::string& url,
                                   const std::string& output = {})
    {
        words all{"/bin/sh", "-c", "exec \"$@\" 2>" + messages_ + " " + output, "sh", tool};
        all.insert(all.end(), arguments.begin(), arguments.end());
        return std::make_unique<process>(all, environment_t{{"LEASEHOLD_URL", url}});
    }

    ran finish(process& running)
    {
        ran done;
        while (auto line = running.read_line(std::chrono::seconds(60)))
            done.lines.push_back(*line);
        done.code = running.wait(std::chrono::seconds(30)).code;
        done.said = said();
        return done;
    }

    ran run(const words& arguments, const std::string& url, const std::string& output = {})
    {
        return finish(*start(arguments, url, output));
    }

    [[nodiscard]] std::string said() const
    {
        std::ostringstream text;
        text << std::ifstream(messages_).rdbuf();
        return text.str();
    }

private:
    temporary_directory directory_;
    std::string messages_ = directory_.file("messages");
};

inline lock_options long_lease()
{
    lock_options options;
    options.lease_time = std::chrono::seconds(60);
    options.renew_interval = std::chrono::milliseconds(100); // so that a loss is noticed soon
    return options;
}

inline lease take(client_thread& by, const std::string& name)
{
    taken got = by.lock(name, long_lease());
    BOOST_TEST_REQUIRE(!got.code, got.code.message());
    return std::move(got.held);
}

} // namespace leasehold::test

#endif
