#include "chaos/client_fleet.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace leasehold::test::chaos {
namespace {

std::string joined(const std::vector<std::string>& words)
{
    std::string all;
    for (const std::string& each : words)
        all += (all.empty() ? "" : ",") + each;
    return all;
}

std::string text_of(const ending& how)
{
    return how.signal != 0 ? "ended by signal " + std::to_string(how.signal)
                           : "exit code " + std::to_string(how.code);
}

} // namespace

client_fleet::client_fleet(const crew_settings& how, deployment& servers, const redis_server& store)
    : set_(how), register_socket_(store.socket())
{
    for (std::size_t i = 0; i < how.clients; ++i) {
        places_.push_back(std::make_unique<place_for_one>());
        places_.back()->way = servers.way();
        start(i);
    }
}

void client_fleet::start(std::size_t place)
{
    auto& here = *places_[place];
    if (here.client)
        finished_.push_back(std::move(here.client->written));
    const std::string name = 'c' + std::to_string(++started_);
    const std::string file = directory_.file(name);
    {
        const std::ofstream made(file);
    }
    const std::shared_ptr<void> there = set_.enter ? set_.enter(place) : nullptr;
    here.client = std::make_unique<member>(
        std::vector<std::string>{
            LEASEHOLD_CHAOS_CLIENT, here.way.url, register_socket_, file, name,
            std::to_string(set_.seed + started_), std::to_string(set_.lease.count()),
            joined(set_.names), std::to_string(set_.workers), set_.fenced ? "1" : "0",
            std::to_string(place == 0 ? set_.pauses : 0), std::to_string(set_.replica_acks),
            set_.promises ? "1" : "0", here.way.port_map},
        file, name);
}

void client_fleet::kill(std::size_t place)
{
    member& whom = *places_[place]->client;
    if (!running(place))
        return;
    whom.running.kill();
    whom.gone = true;
    whom.written.ended = ending_kind::killed;
    read(whom);
}

void client_fleet::pause(std::size_t place)
{
    if (!running(place))
        return;
    try {
        places_[place]->client->running.pause();
    }
    catch (const std::runtime_error&) {
        running(place); // the client has just ended by itself, which is recorded
    }
}

void client_fleet::resume(std::size_t place)
{
    if (running(place))
        places_[place]->client->running.resume();
}

void client_fleet::read(member& of)
{
    const std::size_t before = of.written.events.size();
    chaos::read_on(of.from, of.written);
    for (std::size_t i = before; i < of.written.events.size(); ++i) {
        grants_ += of.written.events[i].what == verb::granted ? 1 : 0;
        losses_ += of.written.events[i].what == verb::lost ? 1 : 0;
    }
}

void client_fleet::read_on()
{
    for (auto& each : places_) {
        for (const auto& proxy : each->way.proxies)
            proxy->forget();
        read(*each->client);
    }
}

bool client_fleet::running(std::size_t place)
{
    member& whom = *places_[place]->client;
    if (!whom.gone && !whom.running.running()) {
        whom.gone = true;
        whom.written.ended = ending_kind::failed;
        whom.written.how = text_of(whom.running.wait(std::chrono::milliseconds(0))) +
                           " before it was told to end";
    }
    return !whom.gone;
}

void client_fleet::command(std::size_t place, const std::string& line)
{
    if (running(place))
        places_[place]->client->running.write_line(line);
}

void client_fleet::listen(member& to)
{
    while (to.running.has_line())
        to.said.push_back(to.running.read_line().value_or(""));
}

bool client_fleet::has_said(std::size_t place, const std::string& line)
{
    member& whom = *places_[place]->client;
    listen(whom);
    return std::find(whom.said.begin(), whom.said.end(), line) != whom.said.end();
}

std::string client_fleet::said_after(std::size_t place, const std::string& beginning)
{
    member& whom = *places_[place]->client;
    listen(whom);
    const auto found = std::find_if(
        whom.said.begin(), whom.said.end(),
        [&](const std::string& each) { return each.starts_with(beginning); });
    if (found == whom.said.end())
        return {};
    const std::string rest = found->substr(beginning.size());
    whom.said.erase(found);
    return rest;
}

void client_fleet::wait(std::size_t place, std::chrono::milliseconds limit)
{
    member& whom = *places_[place]->client;
    if (whom.gone)
        return;
    whom.gone = true;
    try {
        const ending how = whom.running.wait(limit);
        if (how.code != 0 || how.signal != 0) {
            whom.written.ended = ending_kind::failed;
            whom.written.how = text_of(how);
        }
    }
    catch (const std::runtime_error&) {
        whom.running.kill();
        whom.written.ended = ending_kind::failed;
        whom.written.how = "hung when it was told to end";
    }
}

std::vector<history> client_fleet::take()
{
    read_on();
    for (auto& each : places_)
        finished_.push_back(std::exchange(each->client->written, {}));
    return std::exchange(finished_, {});
}

} // namespace leasehold::test::chaos
