#ifndef LEASEHOLD_TEST_SIM_CHECKS_HPP
#define LEASEHOLD_TEST_SIM_CHECKS_HPP

#include "sim/silent_holders.hpp"
#include "sim/trial.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace leasehold::test::sim {

/// Checks the promises of the library by true time, by the actions of the server, and by the
/// results of the handlers.
class checks
{
public:
    explicit checks(trial& of) : trial_(of), silent_holders_(of) {}

    /// Follows the grants and releases of the server.
    void follow_server();

    /// A lease was granted.
    void possess(actor& a, lease& held);
    void possess_again(actor& a);
    void dispossess(const lease& held);
    void dispossess(const actor& a);

    /// A valid lease is about to be released.
    void owe_turn(const actor& a);

    void acquired_externally(name_state& n);

    void reported_lost(actor& a, lease& held, process& client, error_code reason);

    /// Checks all leases, at certain moments and regularly.
    void probe();
    void probe_regularly();

    /// When no fault has been active for long enough: there is no orphaned lock.
    void find_orphans();

    /// @param began    When the shutdown began.
    /// @param troubled The time until which trouble lasted then.
    void shut_down(const process& p, error_code failed, clock::time_point began,
                   clock::time_point troubled);

    /// All handlers were called, with no more commands than needed.
    void all_called();

    /// No lock or queue remains after the shutdown of all clients.
    void nothing_left();

    /// No subscription remains when their connections have ended at the server, too.
    void nothing_listens();

    /// A client got an error of a server for a request.
    void told_error(const process& p, const diagnostics& details);

    /// For this time no client may find the server serving.
    void expect_no_connections(clock::duration how_long);

private:
    [[nodiscard]] bool excused(const possession& p) const;
    [[nodiscard]] static bool is_reentrant(const possession& p);
    [[nodiscard]] bool may_be_divided(const possession& p) const;
    [[nodiscard]] bool may_be_untold(const possession& p, clock::time_point broken) const;
    [[nodiscard]] bool is_known_to_all(const possession& p) const;
    [[nodiscard]] bool majority_lives() const;
    [[nodiscard]] bool untroubled(const name_state& n) const;
    grant_record* find_grant(name_state& n, std::uint64_t fence);
    void follow(testing::server& each);
    void follow(testing::cluster& all);
    void asked_topology(std::string_view host);
    void promoted(const testing::cluster::promotion& by);
    void check_request(const testing::server::grant& g);
    void check_members();
    void check_lease(const possession& mine, const char* as);
    void check_alone(const possession& mine);
    void granted(const testing::server::grant& g);
    void voted(std::size_t member, const testing::server::grant& g);
    void find_orphans_at(testing::server& member);
    void overtaken(std::string_view name, std::string_view owner, bool unfair);
    void check_order(const possession& mine, name_state& n);
    void check_handoff(const possession& mine, const grant_record& from, const name_state& n);
    void check_turn(const actor& a, const grant_record& from, name_state& n);
    [[nodiscard]] clock::time_point moved_until(const name_state& n) const;
    void check_wait(const actor& a, const name_state& n);
    [[nodiscard]] std::uint64_t detects_silence() const;
    void check_commands();

    trial& trial_;
    silent_holders silent_holders_;
    /// The last two topology requests of each host.
    std::map<std::string, std::pair<clock::time_point, clock::time_point>> asked_;
    /// The number of requests too soon after the last.
    std::size_t early_ = 0;
};

} // namespace leasehold::test::sim

#endif
