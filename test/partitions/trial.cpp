#include "partitions/trial.hpp"

#include "chaos/boot_time.hpp"
#include "chaos/checker.hpp"
#include "chaos/register.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

namespace leasehold::test {
namespace {

using namespace std::chrono_literals;
using chaos::boot_time;
using chaos::stamp;
using chaos::verb;

constexpr auto lease_time = 1s;
// The longest wait for an expected event on a busy machine.
constexpr auto patience = 60s;
const std::string port = "6379";

/// The locks that each client acquires at the end.
const std::vector<std::string> names = {"held", "shared"};

/// Servers without faults, because the faults are in the network.
class untouched final : public chaos::deployment
{
public:
    explicit untouched(std::string url) : url_(std::move(url)) {}

    chaos::client_way way() override { return {.url = url_}; }
    std::vector<chaos::fault_kind> faults() override { return {}; }
    bool loses(chaos::fault_kind) const override { return false; }
    void begin(const chaos::planned_fault&, chaos::fault&) override {}
    void end(const chaos::planned_fault&, chaos::fault&) override {}
    std::vector<std::string> left_over() override { return {}; }

private:
    const std::string url_;
};

} // namespace

site::site()
{
    for (std::size_t i = 0; i < servers; ++i) {
        const std::shared_ptr<void> there = net.enter(i);
        masters.push_back(std::make_unique<redis_server>(std::vector<std::string>{
            "--bind", network::address(i), "--port", port, "--protected-mode", "no"}));
    }
}

std::string site::redlock_url()
{
    std::string all;
    for (std::size_t i = 0; i < servers; ++i)
        all += (all.empty() ? "redlock://" : ",") + network::address(i) + ':' + port;
    return all;
}

std::string site::server_url()
{
    return "redis://" + network::address(0) + ':' + port;
}

trial::trial(site& at, const std::string& url)
    : site_(at),
      deployment_(std::make_unique<untouched>(url)),
      clients_({.seed = 1,
                .clients = site::clients,
                .names = names,
                .lease = lease_time,
                .enter = [&net = at.net](
                             std::size_t place) { return net.enter(site::node_of_client(place)); }},
               *deployment_, register_)
{}

void trial::wait_until(const std::string& awaited, const std::function<bool()>& reached)
{
    const stamp end = boot_time() + patience;
    for (;;) {
        clients_.read_on();
        if (reached())
            return;
        if (boot_time() > end)
            throw std::runtime_error("it did not happen in time: " + awaited);
        // There is no event for a process that writes to a file.
        std::this_thread::sleep_for(5ms);
    }
}

std::size_t trial::count(std::size_t client, verb what, std::string_view name,
                         std::string_view word)
{
    const auto& all = clients_.written(client).events;
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [&](const chaos::event& each) {
            return each.what == what && (name.empty() || each.name == name) &&
                   (word.empty() || each.word == word);
        }));
}

void trial::hold(std::size_t client, const std::string& name)
{
    const std::size_t before = grants(client, name);
    ask(client, name);
    wait_until("a client has " + name, [&] { return grants(client, name) > before; });
}

void trial::refused(std::size_t client, const std::string& name, std::string_view why)
{
    const auto answers = [&] {
        return count(client, verb::failed, name) + count(client, verb::released, name);
    };
    while (count(client, verb::failed, name, why) == 0) {
        const std::size_t before = answers();
        command(client, "try " + name);
        wait_until("an answer", [&] { return answers() > before; });
    }
}

void trial::await_grants(const std::vector<std::size_t>& clients, std::size_t times)
{
    for (const std::size_t each : clients) {
        const std::size_t before = grants(each);
        wait_until("client " + std::to_string(each) + " continues",
                   [&] { return grants(each) >= before + times; });
    }
}

void trial::cut(const std::string& what, const ways& these)
{
    all_.faults.push_back(
        {.what = what, .whom = "network", .begin = boot_time(), .end = stamp::max()});
    site_.net.cut(these);
}

void trial::unplug(std::size_t node)
{
    all_.faults.push_back({.what = "unplugged",
                           .whom = network::address(node),
                           .begin = boot_time(),
                           .end = stamp::max()});
    site_.net.unplug(node);
}

void trial::plug(std::size_t node)
{
    site_.net.plug(node);
    mended();
}

void trial::mended()
{
    for (chaos::fault& each : all_.faults)
        each.end = std::min(each.end, boot_time());
}

/// Keys of locks.
std::size_t trial::left_over() const
{
    std::size_t found = 0;
    for (const auto& each : site_.masters)
        for (const std::string& name : names)
            found += each->connect().integer({"EXISTS", name}) == 1 ? 1 : 0;
    return found;
}

void trial::finish()
{
    site_.net.mend();
    mended();
    all_.healed = boot_time();
    all_.lease = lease_time;
    all_.names = names;
    const auto for_all = [&](const std::function<void(std::size_t)>& what) {
        for (std::size_t i = 0; i < clients_.size(); ++i)
            what(i);
    };
    for_all([&](std::size_t i) { command(i, "settle"); });
    for_all([&](std::size_t i) {
        wait_until("each client acquires its lock again",
                   [&] { return clients_.has_said(i, "settled") || !clients_.running(i); });
    });
    for_all([&](std::size_t i) { command(i, "quit"); });
    for_all([&](std::size_t i) { clients_.wait(i, patience); });
    wait_until("no lock is left", [&] { return left_over() == 0; });
    all_.clients = clients_.take();
    chaos::fenced_register written(register_.socket());
    for (const std::string& name : names)
        all_.writes[name] = written.writes(name);

    // Violations are checked to the nanosecond. Required events have more time.
    const chaos::report found = check(all_, {.loss = 200ms, .acquire = 20s});
    for (const chaos::violation& each : found.violations)
        BOOST_TEST_ERROR(chaos::name_of(each.broken)
                         << (each.name.empty() ? "" : ", lock " + each.name) << ": " << each.text);
    BOOST_TEST(found.violations.empty());
    BOOST_TEST_MESSAGE(found.grants << " grants, " << chaos::total(found.losses)
                                    << " losses, slowest after "
                                    << "healing " << found.slowest / 1ms << " ms");
}

} // namespace leasehold::test
