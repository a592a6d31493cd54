#ifndef LEASEHOLD_TEST_FUZZ_TARGETS_HPP
#define LEASEHOLD_TEST_FUZZ_TARGETS_HPP

#include <string>
#include <string_view>

/// The functions that the fuzzer calls. Each target takes any bytes and checks the promises about
/// them. A broken promise ends the process.
namespace leasehold::fuzz {

/// A URL: it is read with the same result each time and can be written again, or it is refused with
/// the name of the wrong part.
void url(std::string_view input);

/// The text of an owner: it is read and written unchanged, or refused.
void owner(std::string_view input);

/// Names of locks, separated by line ends: which names are allowed, which keys they have, and that
/// their keys differ.
void name(std::string_view input);

/// The replies of a server to the scripts of the layout `redisson`. The first line is a script of
/// requests, the rest is sent by the server: see reply.cpp.
void reply(std::string_view input);

/// The same for the layout `native`, and for its requests on a new connection: see native.cpp.
void native(std::string_view input);

/// The pushes of a server. The first line names the watched locks, and the rest is sent by the
/// server.
void push(std::string_view input);

/// Any bytes, as a server sends them, in pieces whose size is the first byte. The guard accepts the
/// same bytes as a simple reader of the protocol, and the parser can read them.
void guard(std::string_view input);

/// The replies of a cluster node about its topology, and its redirections: see topology.cpp.
void topology(std::string_view input);

/// The messages of a ZooKeeper server, and the names of nodes. A message that was read is
/// written and read again, with the same result. Nothing is read from beyond the end.
void zookeeper(std::string_view input);

/// The replies of etcd's gateway, and the names of keys. Nothing is read from beyond the end, each
/// error has a code and a text, and a name is read again with the same result.
void etcd(std::string_view input);

/// The bytes in a form that can be read; empty: there are none.
std::string quoted(std::string_view bytes);

/// Ends the process with this text.
[[noreturn]] void fail(const std::string& promise);

/// `more` is the subject of the promise.
inline void require(bool kept, const char* promise, std::string_view more = {})
{
    if (!kept)
        fail(std::string(promise) + (more.empty() ? "" : ": ") + quoted(more));
}

/// The text before the first line end. `rest` becomes the text after it.
std::string_view take_line(std::string_view& rest);

} // namespace leasehold::fuzz

#endif
