#include "sim/shrink.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace leasehold::test::sim {
namespace {

class shrinker
{
public:
    shrinker(plan failing, std::string kind) : best_(std::move(failing)), kind_(std::move(kind)) {}

    plan run()
    {
        for (bool smaller = true; smaller && tries_ < most_tries;) {
            smaller = thin(&plan::faults);
            smaller = thin(&plan::operations) || smaller;
            smaller = thin(&plan::external_clients) || smaller;
            smaller = simplify() || smaller;
        }
        return best_;
    }

private:
    static constexpr int most_tries = 3000;

    bool fails(const plan& candidate)
    {
        ++tries_;
        coverage none;
        return sim::run(candidate, none).kind() == kind_;
    }

    bool accept(plan candidate)
    {
        if (!fails(candidate))
            return false;
        best_ = std::move(candidate);
        return true;
    }

    /// Leaves out halves, quarters, … single ones.
    template <class T>
    bool thin(std::vector<T> plan::* list)
    {
        bool smaller = false;
        for (std::size_t size = std::max<std::size_t>(1, (best_.*list).size() / 2);; size /= 2) {
            for (std::size_t at = 0; at < (best_.*list).size();) {
                plan candidate = best_;
                auto& all = candidate.*list;
                const auto first = all.begin() + static_cast<std::ptrdiff_t>(at);
                all.erase(first,
                          first + static_cast<std::ptrdiff_t>(std::min(size, all.size() - at)));
                if (accept(std::move(candidate)))
                    smaller = true;
                else
                    at += size;
            }
            if (size <= 1)
                return smaller;
        }
    }

    bool simplify()
    {
        bool smaller = false;
        for (std::size_t i = 0; i < best_.operations.size(); ++i) {
            const auto attempt = [&](auto change) {
                plan candidate = best_;
                change(candidate.operations[i]);
                smaller = accept(std::move(candidate)) || smaller;
            };
            const operation& now = best_.operations[i];
            if (now.what != verb::lock)
                attempt([](operation& o) { o.what = verb::lock; });
            if (now.cancel_after)
                attempt([](operation& o) { o.cancel_after.reset(); });
            if (now.client != 0)
                attempt([](operation& o) { o.client = 0; });
            if (now.name != 0)
                attempt([](operation& o) { o.name = 0; });
            if (now.let_go)
                attempt([](operation& o) { o.let_go = false; });
        }
        const auto used = [&](auto member) {
            std::size_t most = 0;
            for (const operation& each : best_.operations)
                most = std::max(most, each.*member);
            return most + 1;
        };
        plan candidate = best_;
        candidate.clients = std::min(best_.clients,
                                     std::max(used(&operation::client), used(&operation::other)));
        candidate.names = std::min(best_.names, used(&operation::name));
        if (candidate.clients < best_.clients || candidate.names < best_.names)
            smaller = accept(std::move(candidate)) || smaller;
        return smaller;
    }

    plan best_;
    std::string kind_;
    int tries_ = 0;
};

} // namespace

plan shrink(plan failing, const verdict& how)
{
    return shrinker(std::move(failing), std::string(how.kind())).run();
}

} // namespace leasehold::test::sim
