#ifndef LEASEHOLD_TEST_MODEL_FAULTS_HPP
#define LEASEHOLD_TEST_MODEL_FAULTS_HPP

#include "model/setting.hpp"
#include "model/state.hpp"

namespace leasehold::test::model {

// What time and misfortune do.

/// Whether the key of the lock may run out without a fault: nobody keeps it alive.
bool runs_out(const state& s) noexcept;
/// The key of the lock is gone. So has every deadline passed that was counted from a request that
/// ran before.
void expire(state& s);

/// The connection is lost: what was sent may still run, or never; nothing comes back.
void disconnect(state& s, const setting& g, int client);
/// `noticed`: the server knows that nobody hears notifications any more.
void crash(state& s, int client, bool noticed);
/// Only the connection of the notifications is lost.
void deafen(state& s, int client);

/// All keys are gone, and no connection is lost.
void flush(state& s);
/// The server starts again with the snapshot.
void restart(state& s, const setting& g);

} // namespace leasehold::test::model

#endif
