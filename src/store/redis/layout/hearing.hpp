#ifndef LEASEHOLD_SRC_STORE_REDIS_LAYOUT_HEARING_HPP
#define LEASEHOLD_SRC_STORE_REDIS_LAYOUT_HEARING_HPP

namespace leasehold::redis_store {

/// How a client hears that it is its turn, as far as a layout has to know.
class hearing
{
public:
    /// The server tells this client.
    [[nodiscard]] virtual bool hears() const noexcept = 0;

    /// It waits in a line, and wants to hear.
    virtual void listen() = 0;

protected:
    ~hearing() = default;
};

} // namespace leasehold::redis_store

#endif
