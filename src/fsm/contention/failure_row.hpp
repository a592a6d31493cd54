#ifndef LEASEHOLD_SRC_FSM_CONTENTION_FAILURE_ROW_HPP
#define LEASEHOLD_SRC_FSM_CONTENTION_FAILURE_ROW_HPP

namespace leasehold::fsm {

/// Failures of a store one after the other. The next connection makes up for the first; when it
/// fails again no connection shortens the pause, for one that comes and goes is not to bring a
/// request each time.
class failure_row
{
public:
    /// True when it has failed the time before, too.
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
