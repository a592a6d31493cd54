#ifndef LEASEHOLD_SRC_REDIS_REDLOCK_ASSEMBLY_HPP
#define LEASEHOLD_SRC_REDIS_REDLOCK_ASSEMBLY_HPP

#include "redis/redlock/quorum_state.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace leasehold::quorum {

/// One attempt to make blank servers members: queries all members for the data that `fsm::rejoin`
/// needs, and writes its results.
class quorum_state::assembly final : public operation
{
public:
    explicit assembly(std::shared_ptr<quorum_state> of) noexcept : of_(std::move(of)) {}

    void start();

private:
    enum class phase : std::uint8_t
    {
        inspecting,
        asking,
        seeding,
        over,
    };

    template <class Ask>
    void ask_all(Ask ask);
    void answered(unsigned number, phase when);
    void expired() override;
    void go_on();
    void ask_more();
    void write();

    const std::shared_ptr<quorum_state> of_;
    phase phase_ = phase::inspecting;
    mask pending_ = 0;
    std::optional<fsm::rejoin> rejoin_;
};

} // namespace leasehold::quorum

#endif
