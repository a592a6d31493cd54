#ifndef LEASEHOLD_TEST_CHAOS_ONE_SERVER_HPP
#define LEASEHOLD_TEST_CHAOS_ONE_SERVER_HPP

#include "chaos/deployment.hpp"
#include "support/redis_server.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::test::chaos {

class one_server final : public deployment
{
public:
    one_server(persistence how, std::vector<std::string> names);

    client_way way() override;
    std::vector<fault_kind> faults() override;
    bool loses(fault_kind kind) const override { return loses_data(kind, persistence_); }
    void begin(const planned_fault& what, fault& noted) override;
    void end(const planned_fault& what, fault& noted) override;
    std::vector<std::string> left_over() override;

private:
    void send(const std::vector<std::string>& command);
    void done(const std::vector<std::string>& command);
    std::optional<std::filesystem::path> append_only_file() const;

    const persistence persistence_;
    const std::vector<std::string> names_;
    redis_server server_;
    std::unique_ptr<resp_client> busy_; ///< Waits for a command that keeps the server busy.
    std::uint64_t size_ = 0;            ///< The size of the append-only file.
};

} // namespace leasehold::test::chaos

#endif
