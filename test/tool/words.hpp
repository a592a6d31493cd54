#ifndef LEASEHOLD_TEST_TOOL_WORDS_HPP
#define LEASEHOLD_TEST_TOOL_WORDS_HPP

#include <string>
#include <vector>

namespace leasehold::test {

/// The words of a command, of the tool or of a server, and more of them.
inline std::vector<std::string> operator+(std::vector<std::string> left,
                                          const std::vector<std::string>& right)
{
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

/// The URL of a server, for a user whose password is "secret".
inline std::string url_for(const std::string& user, std::string url)
{
    return url.insert(url.find("://") + 3, user + ":secret@");
}

} // namespace leasehold::test

#endif
