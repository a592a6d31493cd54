#ifndef LEASEHOLD_TEST_MODEL_CLIENT_HPP
#define LEASEHOLD_TEST_MODEL_CLIENT_HPP

#include "model/setting.hpp"
#include "model/state.hpp"

namespace leasehold::test::model {

// The steps of the client. `fsm::queued_contention` decides, and this code performs.

void start(state& s, const setting& g, int client, client::task way, bool once);
/// The pause of a waiter has ended.
void poll(state& s, const setting& g, int client);
/// The last waiter leaves.
void cancel(state& s, const setting& g, int client);
void leave(state& s, const setting& g, int client, bool joins);
/// There are waiters here, and the release has no next owner.
void leave_alone(state& s, const setting& g, int client);
void renew(state& s, int client);
void hand_on(state& s, const setting& g, int client);
void reenter(state& s, int client);
void leave_entry(state& s, const setting& g, int client);
void reconnect(state& s, const setting& g, int client);
/// Notifications have their own connection, which is established again.
void listen(state& s, const setting& g, int client);
/// An owner whose request may have been executed after the reply to its release is released again.
void release_owed(state& s, int client, int number);

/// Outstanding requests get no reply any more. The messages have been handled already.
void disconnected(state& s, const setting& g, int client);

/// A reply or a notification arrives, and has been removed from the messages on their way.
void deliver(state& s, const setting& g, const message& reply);

} // namespace leasehold::test::model

#endif
