#ifndef LEASEHOLD_TEST_MODEL_FAULTS_HPP
#define LEASEHOLD_TEST_MODEL_FAULTS_HPP

#include "model/setting.hpp"
#include "model/state.hpp"

namespace leasehold::test::model {

// The steps of time and faults.

/// Whether the key of the lock may expire without a fault: no client keeps it alive.
bool runs_out(const state& s) noexcept;
/// The key of the lock is gone. Every deadline that counts from an earlier request has passed, too.
void expire(state& s);

/// The connection is lost: requests may still be executed, or never; no reply comes.
void disconnect(state& s, const setting& g, int client);
/// `noticed`: the server knows that the client does not listen any more.
void crash(state& s, int client, bool noticed);
/// Only the connection of the notifications is lost.
void deafen(state& s, int client);

/// All keys are gone, and no connection is lost.
void flush(state& s);
/// The server starts again with the snapshot.
void restart(state& s, const setting& g);

} // namespace leasehold::test::model

#endif
