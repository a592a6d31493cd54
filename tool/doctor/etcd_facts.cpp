#include "etcd_facts.hpp"

#include "../etcd/operator_client.hpp"
#include "../failures.hpp"

#include "etcd/protocol/json.hpp"
#include "etcd/protocol/key_names.hpp"
#include "etcd/protocol/requests.hpp"

#include <boost/asio/io_context.hpp>

#include <utility>

namespace leasehold::tool::doctor {
namespace {

using etcd_store::json;
using std::chrono::seconds;

/// @throws refused
json parsed(const std::string& text, const std::string& server)
{
    auto read = json::parse(text);
    if (!read)
        throw refused(server + ": the server does not speak the protocol of etcd");
    return std::move(*read);
}

std::vector<std::chrono::microseconds> ping(operator_client& client, const std::string& root)
{
    constexpr int times = 20;
    const std::string body = text_of(etcd_store::range_request{
        .prefix = etcd_store::clients_prefix(root), .most = 1, .keys_only = true});
    std::vector<std::chrono::microseconds> took;
    for (int i = 0; i < times; ++i) {
        const auto began = std::chrono::steady_clock::now();
        static_cast<void>(client.ask("kv/range", body));
        took.push_back(std::chrono::duration_cast<std::chrono::microseconds>(
            std::chrono::steady_clock::now() - began));
    }
    return took;
}

/// The TTL of a lease, which is revoked at once.
seconds ask_ttl(operator_client& client, std::chrono::milliseconds session)
{
    const auto wanted = std::chrono::ceil<seconds>(session);
    const auto given = etcd_store::read_grant(
        client.ask("lease/grant", etcd_store::grant_request(wanted.count())));
    if (!given)
        return {};
    static_cast<void>(client.ask("lease/revoke", etcd_store::lease_request(given->lease)));
    return seconds(given->seconds);
}

} // namespace

etcd_facts ask_etcd(const etcd_config& where)
{
    boost::asio::io_context context(1);
    operator_client client(context, where);
    etcd_facts found;
    found.name = client.server();
    found.pings = ping(client, where.root);
    const json status = parsed(client.ask("maintenance/status", "{}"), found.name);
    found.version = status["version"].text();
    found.cluster = status["header"]["cluster_id"].text();
    found.leads = status["leader"].text() == status["header"]["member_id"].text();
    found.database = status["dbSize"].integer().value_or(0);
    found.granted = ask_ttl(client, where.session);
    const json list = parsed(client.ask("cluster/member/list", "{}"), found.name);
    for (const json& each : list["members"].elements()) {
        const json& urls = each["clientURLs"];
        found.members.push_back(urls.elements().empty() ? each["name"].text()
                                                        : urls.elements().front().text());
    }
    try {
        const json read = parsed(client.ask("maintenance/alarm", R"({"action":"GET"})"),
                                 found.name);
        found.alarms.emplace();
        for (const json& each : read["alarms"].elements())
            found.alarms->push_back(each["alarm"].text());
    }
    catch (const refused&) { // the user may not read them
    }
    return found;
}

} // namespace leasehold::tool::doctor
