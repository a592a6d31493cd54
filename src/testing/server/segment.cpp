#include "testing/server/segment.hpp"

#include <charconv>
#include <utility>

namespace leasehold::testing::impl {
namespace {

// "*3\r\n" or "$12\r\n".
std::size_t read_size(std::string_view& bytes)
{
    std::size_t size = 0;
    const char* const digits = bytes.data() + 1;
    const char* const end = std::from_chars(digits, bytes.data() + bytes.size(), size).ptr;
    bytes.remove_prefix(static_cast<std::size_t>(end - bytes.data()) + 2);
    return size;
}

} // namespace

segment::segment(std::string bytes, clock::time_point when) : sent(when), bytes_(std::move(bytes))
{
    words_.reserve(24); // a call has a dozen
    for (std::string_view rest = bytes_; !rest.empty();) {
        const std::size_t begin = words_.size();
        const std::size_t count = read_size(rest);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t size = read_size(rest);
            words_.push_back(rest.substr(0, size));
            rest.remove_prefix(size + 2);
        }
        commands_.push_back({begin, count, std::nullopt});
    }
    for (command_words& each : commands_)
        each.request = lock_request_of(words(words_).subspan(each.begin, each.count));
}

} // namespace leasehold::testing::impl
