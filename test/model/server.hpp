#ifndef LEASEHOLD_TEST_MODEL_SERVER_HPP
#define LEASEHOLD_TEST_MODEL_SERVER_HPP

#include "model/setting.hpp"
#include "model/state.hpp"

namespace leasehold::test::model {

/// Whether the server may execute this request now: the first commands of a connection are executed
/// before its other requests.
bool may_run(const state& s, const setting& g, const message& request) noexcept;

/// Runs a request, which has been taken off the way: one atomic step of the server.
/// @param leaves_free A release that leaves the lock free for external clients.
void run(state& s, const setting& g, const message& request, bool leaves_free = false);

} // namespace leasehold::test::model

#endif
