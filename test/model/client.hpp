#ifndef LEASEHOLD_TEST_MODEL_CLIENT_HPP
#define LEASEHOLD_TEST_MODEL_CLIENT_HPP

#include "model/setting.hpp"
#include "model/state.hpp"

namespace leasehold::test::model {

// What a client does of itself. `fsm::queued_contention` decides; this performs.

void start(state& s, const setting& g, int client, client::task way, bool once);
/// The pause of one that waits is over.
void look(state& s, const setting& g, int client);
/// The last waiter goes.
void cancel(state& s, const setting& g, int client);
void leave(state& s, const setting& g, int client, bool joins);
/// Others wait here, and the release carries none of them.
void leave_alone(state& s, const setting& g, int client);
void renew(state& s, int client);
void hand_on(state& s, const setting& g, int client);
void enter_again(state& s, int client);
void leave_entry(state& s, const setting& g, int client);
void reconnect(state& s, const setting& g, int client);
/// Notifications have a connection of their own; it is there again.
void listen(state& s, const setting& g, int client);
/// An owner whose request may have run after its release was answered is released again.
void release_owed(state& s, int client, int number);

/// What was under way is answered no more. The messages have been seen to.
void disconnected(state& s, const setting& g, int client);

/// A reply or a notification arrives, which has been taken off the way.
void deliver(state& s, const setting& g, const message& reply);

} // namespace leasehold::test::model

#endif
