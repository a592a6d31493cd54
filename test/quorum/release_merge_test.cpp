// How the reports of members about one name are merged into those of one store: every short
// sequence.
#include <boost/test/unit_test.hpp>

#include "redis/redlock/release_merge.hpp"

#include <cstddef>
#include <set>
#include <string>

namespace {

using namespace leasehold::quorum;
using report = release_merge::report;

constexpr unsigned members = 3;
constexpr unsigned majority = 2;
constexpr unsigned enough = 2; ///< The number of free members that makes the lock available.

/// The same logic with sets and strings.
class story
{
public:
    report watching(unsigned member, const std::set<unsigned>& needed)
    {
        watch_.insert(member);
        if (notifies_)
            return report::none;
        for (const unsigned each : needed)
            if (!watch_.contains(each))
                return report::soon;
        notifies_ = true;
        return report::now;
    }

    void unsubscribed(unsigned member)
    {
        watch_.erase(member);
        notifies_ = notifies_ && watch_.size() >= majority;
    }

    report released(unsigned member, const std::string& sign)
    {
        if (last_told_ == sign)
            return report::none;
        if (latest_ != sign) {
            free_at_.clear();
            told_of_.clear();
        }
        latest_ = sign;
        free_at_.insert(member);
        if (free_at_.size() < enough)
            return free_at_ != told_of_ ? report::soon : report::none;
        last_told_ = sign;
        return report::now;
    }

    bool due()
    {
        const bool begins = !notifies_ && watch_.size() >= majority;
        const bool untold = latest_ != last_told_ && free_at_ != told_of_;
        notifies_ = notifies_ || begins;
        if (untold)
            told_of_ = free_at_;
        return begins || untold;
    }

private:
    std::set<unsigned> watch_;
    bool notifies_ = false;
    std::string latest_;
    std::string last_told_;
    std::set<unsigned> free_at_;
    std::set<unsigned> told_of_; ///< Those of them at the last report.
};

// A member watches, stops watching, or reports one of two releases, or the delay ends.
constexpr std::size_t kinds = 4 * members + 1;

/// Applies the same event to both. Returns false if their reports differ.
bool happens(std::size_t what, const std::set<unsigned>& needed, mask needed_bits,
             release_merge& merge, story& told)
{
    const auto member = static_cast<unsigned>(what % members);
    switch (what / members) {
    case 0: return merge.watching(member, needed_bits) == told.watching(member, needed);
    case 1:
        merge.unsubscribed(member, majority);
        told.unsubscribed(member);
        return true;
    case 2: return merge.released(member, "one", enough) == told.released(member, "one");
    case 3: return merge.released(member, "two", enough) == told.released(member, "two");
    default: return merge.due(majority) == told.due();
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(reports_of_members_are_merged_into_one_report)
{
    constexpr std::size_t length = 4;
    std::size_t stories = 1;
    for (std::size_t i = 0; i < length; ++i)
        stories *= kinds;
    for (const bool all_needed : {false, true}) {
        const std::set<unsigned> needed = all_needed ? std::set{0u, 1u, 2u} : std::set{0u, 2u};
        const mask bits = all_needed ? bit(0) | bit(1) | bit(2) : bit(0) | bit(2);
        std::size_t wrong = 0;
        for (std::size_t number = 0; number < stories; ++number) {
            release_merge merge;
            story told;
            std::size_t rest = number;
            bool same = true;
            for (std::size_t i = 0; i < length && same; ++i, rest /= kinds)
                same = happens(rest % kinds, needed, bits, merge, told);
            wrong += same ? 0 : 1;
        }
        BOOST_TEST(wrong == 0u);
    }
}

// Members may execute a release at times far apart. A waiter that polled in between finds too few
// of them free, and must be woken again.
BOOST_AUTO_TEST_CASE(members_that_report_a_release_late_wake_the_waiter_again)
{
    release_merge merge;
    BOOST_TEST((merge.released(0, "sign", 3) == report::soon));
    BOOST_TEST(merge.due(3));
    BOOST_TEST(!merge.due(3));
    BOOST_TEST((merge.released(0, "sign", 3) == report::none)); // the same member again
    BOOST_TEST((merge.released(1, "sign", 3) == report::soon));
    BOOST_TEST((merge.released(2, "sign", 3) == report::now));
    BOOST_TEST((merge.released(3, "sign", 3) == report::none));
    BOOST_TEST(!merge.due(3));
}
