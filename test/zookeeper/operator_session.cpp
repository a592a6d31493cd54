#include "zookeeper/operator_session.hpp"

#include "support/run.hpp"

#include <chrono>
#include <optional>
#include <stdexcept>

namespace leasehold::test {

using namespace zookeeper_store;

operator_session::operator_session(const std::string& url)
    : session_(std::make_shared<session>(zookeeper_config(url)))
{
    session_->open(context_.get_executor(), *this);
    run_until(context_, [&] { return session_->ready(); }, std::chrono::seconds(30));
}

operator_session::~operator_session()
{
    session_->close();
    context_.restart();
    context_.run();
}

void operator_session::on_lost(const trouble& why)
{
    throw std::runtime_error("the session of the operator was lost: " + why.from_here);
}

operator_session::answer operator_session::ask(const request& what)
{
    // Meanwhile the context did not run, and the session may have been lost.
    std::optional<answer> got;
    session_->send(what, [&](const reply& to) {
        if (to.failed)
            throw std::runtime_error("the operator got no reply");
        got = answer{to.error, std::string(to.body)};
    });
    run_until(context_, [&] { return got.has_value(); }, std::chrono::seconds(30));
    return *got;
}

void operator_session::create(const std::string& path, node_kind kind)
{
    const answer got = ask(create_node(kind, path, {}, false));
    if (got.error != 0 && got.error != node_exists)
        throw std::runtime_error(path + ": " + zookeeper_store::text_of(got.error));
}

void operator_session::remove(const std::string& path)
{
    if (const answer got = ask(remove_node(path)); got.error != 0)
        throw std::runtime_error(path + ": " + zookeeper_store::text_of(got.error));
}

std::vector<std::string> operator_session::children(const std::string& path)
{
    const answer got = ask(get_children(path));
    return got.error == 0 ? read_children(got.body).value() : std::vector<std::string>();
}

void operator_session::clear(const std::string& path)
{
    for (const std::string& each : children(path)) {
        clear(path + '/' + each);
        ask(remove_node(path + '/' + each));
    }
}

std::int64_t operator_session::session_of(const std::string& path)
{
    const answer got = ask(get_data(path, false));
    return got.error == 0 ? read_data(got.body).value().status.session : 0;
}

} // namespace leasehold::test
