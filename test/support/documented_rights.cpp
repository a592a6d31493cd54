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

} // namespace leasehold::test
