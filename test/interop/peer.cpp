#include "interop/peer.hpp"

#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace leasehold::test {

std::vector<std::string> peer::other_library(const std::vector<std::string>& places)
{
    const char* const given = std::getenv("LEASEHOLD_PEER");
    if (given == nullptr)
        throw std::runtime_error("no LEASEHOLD_PEER: run test/run --interop");
    std::istringstream words(given);
    std::vector<std::string> result;
    for (std::string word; words >> word;)
        result.push_back(word);
    result.insert(result.end(), places.begin(), places.end());
    return result;
}

std::string peer::hex(std::string_view name)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string result;
    for (const char each : name) {
        const auto byte = static_cast<unsigned char>(each);
        result += digits[byte >> 4];
        result += digits[byte & 15];
    }
    return result;
}

bool peer::answer_is(std::string_view yes, std::string_view no)
{
    const std::string got = answer();
    if (got != yes && got != no)
        throw std::runtime_error("the answer of the peer is \"" + got + '"');
    return got == yes;
}

} // namespace leasehold::test
