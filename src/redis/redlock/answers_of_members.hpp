#ifndef LEASEHOLD_SRC_REDIS_REDLOCK_ANSWERS_OF_MEMBERS_HPP
#define LEASEHOLD_SRC_REDIS_REDLOCK_ANSWERS_OF_MEMBERS_HPP

#include "redis/redlock/quorum_state.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace leasehold::quorum {

/// The replies of the members that did not do what was requested, for the one error that is made of
/// them.
class answers_of_members
{
public:
    void failed(unsigned number, error_code code, std::string_view words = {})
    {
        code_[number] = code;
        words_[number] = words;
    }

    /// `errc::no_quorum`; or the error of all that failed, if a retry does not help.
    [[nodiscard]] error_code error(const quorum_state& of) const noexcept
    {
        error_code all;
        unsigned hopeless = 0;
        for (const error_code& each : code_) {
            if (each == condition::bad_request) {
                ++hopeless;
                all = each;
            }
        }
        return hopeless > of.size.members - of.size.grants ? all : error_code(errc::no_quorum);
    }

    /// "2 of 5 members granted it; 10.0.0.3:6379: another owner has the lock; …"
    [[nodiscard]] details_ptr explain(const quorum_state& of, std::string_view name, unsigned good,
                                      std::string_view did) const
    {
        auto made = std::make_shared<diagnostics>();
        made->server = of.servers();
        made->key = name;
        std::string& text = made->server_message;
        text = std::to_string(good) + " of " + std::to_string(of.size.members) + " members " +
               std::string(did);
        for (unsigned i = 0; i < of.size.members; ++i) {
            if (!words_[i].empty())
                text += "; " + of.server_of(i) + ": " + words_[i];
            else if (code_[i] || !of.is_granting(i))
                text += "; " + of.trouble_of(i, code_[i]);
        }
        return made;
    }

private:
    std::array<error_code, fsm::quorum_size::most_members> code_{};
    std::array<std::string, fsm::quorum_size::most_members> words_{};
};

} // namespace leasehold::quorum

#endif
