#ifndef LEASEHOLD_TEST_SUPPORT_SCRIPTED_MEMBER_HPP
#define LEASEHOLD_TEST_SUPPORT_SCRIPTED_MEMBER_HPP

#include "redis/redlock/member.hpp"

#include <boost/asio/post.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::test {

/// A member of a quorum whose replies the test supplies, for one thread. Requests are kept in
/// order.
class scripted_member
{
public:
    template <class Reply>
    using handler = quorum::member::handler<Reply>;

    struct vote
    {
        std::string owner;
        std::uint64_t first_fence;
        std::uint32_t fences;
        std::uint64_t epoch;
        bool only_ours;
        handler<quorum::ballot_reply> done;
    };
    struct release
    {
        std::string owner;
        std::string entry;
        bool quiet;
        handler<quorum::release_answer> done;
    };
    struct renewal_call
    {
        std::vector<std::string> owners;
        bool create;
        std::chrono::milliseconds budget;
        asio::any_completion_handler<void(std::vector<quorum::kept>)> done;
    };
    struct adoption
    {
        std::uint64_t epoch;
        handler<quorum::adopt_answer> done;
    };
    struct seeding
    {
        quorum::seed what;
        handler<quorum::seed_answer> done;
    };

    /// The state, which outlives the store.
    struct state
    {
        asio::any_io_executor strand;
        quorum::member_listener* told = nullptr;
        unsigned number = 0;
        std::int64_t time = 1'000;
        std::vector<vote> votes;
        std::vector<release> releases;
        std::vector<renewal_call> renewals;
        std::vector<handler<quorum::inspect_answer>> inspections;
        std::vector<adoption> adoptions;
        std::vector<seeding> seeds;
        std::vector<handler<quorum::reentered>> entries;
        std::vector<store::describe_handler> questions; ///< Requests for the record of a holder.
        client_info own;
        std::string order;                 ///< The order of requests, one letter each: v, r.
        std::vector<std::uint64_t> nonces; ///< The nonces of polls.
        /// Watches and their ends, as "watch name", "unwatch name".
        std::vector<std::string> watches;
    };

    scripted_member() = default;
    scripted_member(const scripted_member&) = delete;
    scripted_member& operator=(const scripted_member&) = delete;
    /// An unanswered request keeps the store, and therefore this object.
    ~scripted_member() { const state unanswered = std::exchange(*state_, {}); }

    [[nodiscard]] std::unique_ptr<quorum::member> make() const
    {
        return std::make_unique<adapter>(state_);
    }
    [[nodiscard]] state& operator*() const noexcept { return *state_; }
    [[nodiscard]] state* operator->() const noexcept { return state_.get(); }

    /// Calls the function on the strand, later.
    template <class Function>
    void post(Function function) const
    {
        asio::post(state_->strand, std::move(function));
    }

private:
    class adapter final : public quorum::member
    {
    public:
        explicit adapter(std::shared_ptr<state> of) : of_(std::move(of)) {}

        std::string server() const override { return "member" + std::to_string(of_->number); }
        std::int64_t time() const override { return of_->time; }

        void open(const asio::any_io_executor& strand, quorum::member_listener& told,
                  unsigned number) override
        {
            of_->strand = strand;
            of_->told = &told;
            of_->number = number;
        }
        /// Drops unanswered requests: they keep the store, which keeps this object.
        void close() override
        {
            of_->told = nullptr;
            asio::post(of_->strand, [votes = std::exchange(of_->votes, {}),
                                     releases = std::exchange(of_->releases, {}),
                                     renewals = std::exchange(of_->renewals, {}),
                                     inspections = std::exchange(of_->inspections, {}),
                                     adoptions = std::exchange(of_->adoptions, {}),
                                     seeds = std::exchange(of_->seeds, {}),
                                     entries = std::exchange(of_->entries, {}),
                                     questions = std::exchange(of_->questions, {})] {});
        }

        void async_vote(const quorum::ballot& b, handler<quorum::ballot_reply> done) override
        {
            of_->order += 'v';
            of_->votes.push_back({std::string(b.owner), b.first_fence, b.fences, b.epoch,
                                  b.only_ours, std::move(done)});
        }
        void async_reenter(const quorum::reentry&, handler<quorum::reentered> done) override
        {
            of_->entries.push_back(std::move(done));
        }
        void async_renew(
            std::span<const quorum::upkeep> asked, std::chrono::milliseconds budget,
            asio::any_completion_handler<void(std::vector<quorum::kept>)> done) override
        {
            renewal_call made{{}, asked.front().create, budget, std::move(done)};
            for (const quorum::upkeep& each : asked)
                made.owners.emplace_back(each.what.owner);
            of_->renewals.push_back(std::move(made));
        }
        void async_release(const release_request& asked, bool quiet,
                           handler<quorum::release_answer> done) override
        {
            of_->order += 'r';
            of_->releases.push_back(
                {std::string(asked.owner), std::string(asked.entry), quiet, std::move(done)});
        }
        void async_inspect(std::uint64_t nonce, handler<quorum::inspect_answer> done) override
        {
            of_->nonces.push_back(nonce);
            of_->inspections.push_back(std::move(done));
        }
        void async_adopt(std::uint64_t epoch, handler<quorum::adopt_answer> done) override
        {
            of_->adoptions.push_back({epoch, std::move(done)});
        }
        void async_seed(const quorum::seed& asked, handler<quorum::seed_answer> done) override
        {
            of_->seeds.push_back({asked, std::move(done)});
        }
        void async_describe(std::string_view, store::describe_handler done) override
        {
            of_->questions.push_back(std::move(done));
        }
        client_info own_info() const override { return of_->own; }
        void watch(std::string_view name) override
        {
            of_->watches.push_back("watch " + std::string(name));
        }
        void unwatch(std::string_view name) override
        {
            of_->watches.push_back("unwatch " + std::string(name));
        }

    private:
        const std::shared_ptr<state> of_;
    };

    std::shared_ptr<state> state_ = std::make_shared<state>();
};

} // namespace leasehold::test

#endif
