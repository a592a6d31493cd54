#ifndef LEASEHOLD_SRC_TESTING_VERBS_HPP
#define LEASEHOLD_SRC_TESTING_VERBS_HPP

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace leasehold::testing::impl {

inline bool is_one_of(std::string_view verb, std::initializer_list<std::string_view> all)
{
    return std::find(all.begin(), all.end(), verb) != all.end();
}

} // namespace leasehold::testing::impl

#endif
