#include "model/search.hpp"

#include "model/canonical.hpp"
#include "model/properties.hpp"
#include "model/state_set.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <stdexcept>

namespace leasehold::test::model {
namespace {

using index = state_set::index;

bool equal(const state& a, const state& b) noexcept
{
    return std::memcmp(&a, &b, sizeof a) == 0;
}

class exploration
{
public:
    exploration(const setting& g, std::uint64_t most_states,
                const std::function<void(const progress&)>& notify)
        : g_(g), most_(most_states), notify_(notify)
    {}

    outcome run()
    {
        state first = first_state(g_);
        make_canonical(first, g_);
        visited_.insert(first);
        parents_.push_back(0);
        for (index i = 0; i < visited_.size() && out_.how == outcome::end::complete; ++i)
            explore(i);
        if (out_.how == outcome::end::complete)
            find_stuck();
        out_.states = visited_.size();
        out_.memory = memory();
        return std::move(out_);
    }

private:
    void explore(index i)
    {
        if (i % 65536 == 0 && i > 0)
            notify_({visited_.size(), i, out_.transitions, memory()});
        const state s = visited_[i];
        edges_begin_.push_back(edges_.size());
        done_.push_back(finished(s, g_));
        if (const char* const wrong = wrong_in(s, g_))
            return found(wrong, i);
        successors(s, g_, next_);
        for (successor& each : next_) {
            ++out_.transitions;
            if (each.wrong != nullptr)
                return found(each.wrong, i, &each);
            make_canonical(each.to, g_);
            const auto [to, is_new] = visited_.insert(each.to);
            if (is_new)
                parents_.push_back(i);
            if (each.by.progress() && to != i)
                edges_.push_back(to);
        }
        if (visited_.size() > most_)
            out_.how = outcome::end::cut_off;
    }

    /// Checks that the end can be reached from every state by steps without faults.
    void find_stuck()
    {
        edges_begin_.push_back(edges_.size());
        for (bool more = true; more;) {
            more = false;
            for (index i = visited_.size(); i-- > 0;) {
                if (done_[i])
                    continue;
                for (std::size_t e = edges_begin_[i]; e < edges_begin_[i + 1] && !done_[i]; ++e)
                    done_[i] = done_[edges_[e]];
                more = more || done_[i];
            }
        }
        const auto stuck = std::find(done_.begin(), done_.end(), false);
        if (stuck != done_.end())
            found("stuck: from here the end cannot be reached without a fault",
                  static_cast<index>(stuck - done_.begin()));
    }

    void found(const char* promise, index at, const successor* last = nullptr)
    {
        out_.how = outcome::end::found;
        out_.what = promise;
        trace(at);
        if (last != nullptr) {
            // The step before any client was renamed on the path.
            const state from = out_.path.empty() ? first_state(g_) : out_.path.back().to;
            std::vector<successor> all;
            successors(from, g_, all);
            for (const successor& each : all)
                if (each.wrong == last->wrong && each.by.what == last->by.what) {
                    out_.path.push_back(each);
                    break;
                }
        }
    }

    /// Repeats the path with the names of the first state.
    void trace(index at)
    {
        std::vector<index> way;
        for (; at != 0; at = parents_[at])
            way.push_back(at);
        state s = first_state(g_);
        std::vector<successor> all;
        for (auto i = way.rbegin(); i != way.rend(); ++i) {
            const state wanted = visited_[*i];
            successors(s, g_, all);
            const auto next = std::find_if(all.begin(), all.end(), [&](const successor& each) {
                state there = each.to;
                make_canonical(there, g_);
                return each.wrong == nullptr && equal(there, wanted);
            });
            if (next == all.end())
                throw std::logic_error("a state cannot be reached a second time");
            out_.path.push_back(*next);
            s = next->to;
        }
    }

    [[nodiscard]] std::size_t memory() const noexcept
    {
        return visited_.memory() + parents_.capacity() * sizeof(index) +
               edges_begin_.capacity() * sizeof(std::size_t) + edges_.size() * sizeof(index);
    }

    const setting& g_;
    const std::uint64_t most_;
    const std::function<void(const progress&)>& notify_;
    outcome out_;
    state_set visited_;
    std::vector<index> parents_;
    std::deque<index> edges_;
    std::vector<std::size_t> edges_begin_;
    std::vector<bool> done_;
    std::vector<successor> next_;
};

} // namespace

outcome search(const setting& g, std::uint64_t most_states,
               const std::function<void(const progress&)>& notify)
{
    return exploration(g, most_states, notify).run();
}

} // namespace leasehold::test::model
