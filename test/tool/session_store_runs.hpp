#ifndef LEASEHOLD_TEST_TOOL_SESSION_STORE_RUNS_HPP
#define LEASEHOLD_TEST_TOOL_SESSION_STORE_RUNS_HPP

#include <boost/test/unit_test.hpp>

#include "support/client_thread.hpp"
#include "support/port.hpp"
#include "tool/tool_runs.hpp"

#include <leasehold/error.hpp>
#include <leasehold/make_store.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::test {

/// The command with locks in a store of sessions, as processes.
struct session_store_runs : tool_runs
{
    using words = std::vector<std::string>;

    explicit session_store_runs(std::string at) : url(std::move(at)) {}

    ran run(const words& arguments) { return tool_runs::run(arguments, url); }
    [[nodiscard]] std::unique_ptr<client_thread> client() const
    {
        return std::make_unique<client_thread>(make_store(url));
    }

    /// The store gives a TTL of some seconds instead of the requested half minute.
    void check_run_for_longer_than_the_session()
    {
        const ran held = run({"run", "job", "--", "sh", "-c", "sleep 5; echo $LEASEHOLD_FENCE"});
        BOOST_TEST(held.code == 0);
        BOOST_TEST(held.lines.size() == 1u, held.text());
        BOOST_TEST(!held.says("not renewed"), held.said);
    }

    void check_list(const std::string& layout)
    {
        const auto one = client();
        const lease stock = take(*one, "stock");
        const lease other = take(*one, "other/name");
        const ran listed = run({"ls"});
        BOOST_TEST(listed.code == 0);
        BOOST_TEST(listed.lines.size() == 3u, listed.text());
        BOOST_TEST(listed.has("other/name "));
        BOOST_TEST(listed.has(one->locks().id()));
        BOOST_TEST(run({"ls", "s*k"}).lines.size() == 2u);
        BOOST_TEST(run({"ls", "nothing*"}).says("no lock is held that matches 'nothing*'"));
        const ran json = run({"ls", "--json", "stock"});
        BOOST_TEST(json.has("[{\"name\":\"stock\",\"layout\":\"" + layout + '"'), json.text());
        BOOST_TEST(json.has("\"owner\":\"" + stock.share_owner().id() + "\""));
    }

    void check_break()
    {
        const auto one = client();
        const auto two = client();
        lease held = take(*one, "stock");
        const std::string owner = held.share_owner().id();
        auto waiting = two->start_lock("stock", long_lease());
        wait_until([&] { return run({"inspect", "stock"}).has("waiters     1\n"); });
        auto lost = client_thread::start_wait_lost(held);
        BOOST_TEST(run({"break", "stock", "--owner", owner + "0"}).code == 75);
        const ran broken = run({"break", "stock", "--owner", owner});
        BOOST_TEST(broken.code == 0, broken.said);
        BOOST_TEST(broken.has("the next waiter holds it"), broken.text());
        BOOST_TEST(!get(waiting).code);
        BOOST_TEST(get(lost) == errc::lost);
    }

    void check_unreachable_server(const std::string& scheme)
    {
        const reserved_port unused;
        const std::string at = "127.0.0.1:" + std::to_string(unused.number());
        url = scheme + "://" + at + "?timeout=200";
        const ran listed = run({"ls"});
        BOOST_TEST(listed.code != 0);
        BOOST_TEST(listed.says(at), listed.said);
    }

    std::string url;
};

} // namespace leasehold::test

#endif
