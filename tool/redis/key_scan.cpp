#include "key_scan.hpp"

namespace leasehold::tool {

std::vector<std::string> key_scan::next(servers& where)
{
    const char* const name = type_ == type::string ? "string" : "hash";
    resp_value page = where.connection(place_).demand(
        {"SCAN", cursor_, "MATCH", pattern_, "COUNT", "1000", "TYPE", name});
    if (page.items.size() != 2)
        throw refused(where.name(place_) + " does not answer SCAN like Redis");
    cursor_ = page.items[0].text;
    done_ = cursor_ == "0";
    std::vector<std::string> keys;
    for (resp_value& each : page.items[1].items)
        keys.push_back(std::move(each.text));
    return keys;
}

} // namespace leasehold::tool
