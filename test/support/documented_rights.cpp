#include "support/documented_rights.hpp"

#include "support/directory.hpp"

#include <sstream>
#include <stdexcept>

namespace leasehold::test {

std::vector<std::string> documented_rights(std::string_view behind)
{
    const std::string text = text_of(LEASEHOLD_TEST_RIGHTS);
    const std::size_t begin = text.find("ACL SETUSER", text.find(behind));
    if (begin == text.npos)
        throw std::runtime_error("no ACL SETUSER behind \"" + std::string(behind) + "\" in " +
                                 LEASEHOLD_TEST_RIGHTS);
    std::istringstream words(text.substr(begin, text.find("```", begin) - begin));
    std::vector<std::string> result;
    for (std::string word; words >> word;) {
        if (word != "\\")
            result.push_back(word);
    }
    return result;
}

void permit_conditional_deletes(resp_client& server, const std::string& user)
{
    for (const std::string name : {"delifeq", "delex"})
        if (!server.command({"COMMAND", "INFO", name}).items.at(0).items.empty())
            server.done({"ACL", "SETUSER", user, '+' + name});
}

std::string refused_by(resp_client& server)
{
    const resp_value log = server.command({"ACL", "LOG"});
    std::string refused;
    for (const resp_value& entry : log.items)
        for (const resp_value& each : entry.items)
            refused += each.text + ' ';
    return refused;
}

} // namespace leasehold::test
