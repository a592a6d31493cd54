#ifndef LEASEHOLD_SRC_FSM_CONTENTION_FAILURE_ROW_HPP
#define LEASEHOLD_SRC_FSM_CONTENTION_FAILURE_ROW_HPP

namespace leasehold::fsm {

/// Consecutive failures of a store. The next connection ends the pause after the first failure.
/// After later ones it does not, because a connection that comes and goes must not cause a request
/// each time.
class failure_row
{
public:
    /// Whether the previous request failed, too.
    bool failed() noexcept
    {
        length_ = length_ == none ? one : several;
        return repeated();
    }

    void served() noexcept { length_ = none; }

    [[nodiscard]] bool repeated() const noexcept { return length_ == several; }

private:
    enum length : unsigned char
    {
        none,
        one,
        several,
    };

    length length_ = none;
};

} // namespace leasehold::fsm

#endif
