#ifndef LEASEHOLD_TEST_MODEL_FAULTS_HPP
#define LEASEHOLD_TEST_MODEL_FAULTS_HPP

#include "model/setting.hpp"
#include "model/state.hpp"

namespace leasehold::test::model {

// The steps of time and faults.

/// Whether the key of the lock may expire without a fault: no client keeps it alive.
bool runs_out(const state& s) noexcept;
/// The key of the lock expires. Every deadline that counts from an earlier request has passed too.
void expire(state& s);

/// The connection is lost. Its requests may still be executed or not, and get no reply.
void disconnect(state& s, const setting& g, int client);
/// `noticed`: the server has noticed that the client does not receive notifications any more.
void crash(state& s, int client, bool noticed);
/// Only the connection of the notifications is lost.
void deafen(state& s, int client);

/// All keys are lost, and no connection is.
void flush(state& s);
/// The server starts again with the snapshot.
void restart(state& s, const setting& g);

} // namespace leasehold::test::model

#endif
