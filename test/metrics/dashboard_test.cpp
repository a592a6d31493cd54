// The dashboard draws every family of the page, and no other series.
#include <boost/test/unit_test.hpp>

#include "metrics/every_event.hpp"
#include "metrics/open_metrics_checker.hpp"

#include <leasehold/extras/metrics.hpp>

#include <boost/property_tree/json_parser.hpp>
#include <boost/property_tree/ptree.hpp>

#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <vector>

using namespace leasehold;
using namespace leasehold::test;

namespace {

using boost::property_tree::ptree;

/// All texts of members with this name, at any depth.
void collect(const ptree& from, const std::string& member, std::vector<std::string>& into)
{
    for (const auto& [name, value] : from) {
        if (name == member && value.empty())
            into.push_back(value.data());
        collect(value, member, into);
    }
}

/// The queries of the dashboard, of its panels and of its variables.
std::vector<std::string> queries()
{
    ptree dashboard;
    read_json(LEASEHOLD_TEST_DASHBOARD, dashboard);
    std::vector<std::string> all;
    collect(dashboard, "expr", all);
    collect(dashboard, "query", all);
    return all;
}

std::vector<std::string> matches(const std::string& text, const char* pattern)
{
    const std::regex wanted(pattern);
    std::vector<std::string> all;
    for (std::sregex_iterator i(text.begin(), text.end(), wanted), end; i != end; ++i)
        all.push_back((*i)[1]);
    return all;
}

open_metrics_page full_page()
{
    metrics counted;
    notify_every_event(counted);
    return read_open_metrics(counted.text());
}

} // namespace

BOOST_AUTO_TEST_SUITE(dashboard)

BOOST_AUTO_TEST_CASE(every_series_and_label_in_a_query_exists)
{
    const auto page = full_page();
    std::size_t drawn = 0;
    for (const std::string& query : queries()) {
        const auto names = matches(query, "(leasehold_[a-z_]+)");
        std::set<std::string> labels;
        for (const std::string& name : names) {
            ++drawn;
            BOOST_TEST_REQUIRE(page.series.contains(name), name);
            const auto& of = page.series.at(name);
            labels.insert(of.begin(), of.end());
        }
        // The labels that select, the labels that group, and the label that a variable lists.
        std::vector<std::string> used = matches(query, "([a-z_]+)(?:=~|!~|!=|=)\"");
        for (const std::string& group : matches(query, "by \\(([^)]*)\\)"))
            for (const std::string& label : matches(group, "([a-z_]+)"))
                used.push_back(label);
        for (const std::string& label : matches(query, "label_values\\([a-z_]+, ([a-z_]+)\\)"))
            used.push_back(label);
        for (const std::string& label : used)
            BOOST_TEST(labels.contains(label), label + " in " + query);
    }
    BOOST_TEST(drawn > 15u);
}

BOOST_AUTO_TEST_CASE(every_family_is_drawn)
{
    std::string all;
    for (const std::string& query : queries())
        all += query + '\n';
    for (const auto& [family, type] : full_page().types)
        BOOST_TEST(all.find(family) != all.npos, family);
}

BOOST_AUTO_TEST_SUITE_END()
