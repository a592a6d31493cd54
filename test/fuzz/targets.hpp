#ifndef LEASEHOLD_TEST_FUZZ_TARGETS_HPP
#define LEASEHOLD_TEST_FUZZ_TARGETS_HPP

#include <string>
#include <string_view>

/// What the fuzzer calls. Each target takes any bytes and checks what is promised for them; what is
/// broken ends the process.
namespace leasehold::fuzz {

/// A URL: understood the same way each time and written back, or refused with the name of the part
/// that is wrong.
void url(std::string_view input);

/// The text of an owner: there and back, or refused.
void owner(std::string_view input);

/// Names of locks, separated by line ends: which are allowed, which keys they have, and that they
/// keep apart.
void name(std::string_view input);

/// The replies of a server to the scripts of the layout `redisson`. The first line is a script of
/// requests, the rest is sent by the server: see reply.cpp.
void reply(std::string_view input);

/// The same for the layout `native`, and for what it says to a new connection: see native.cpp.
void native(std::string_view input);

/// What a server pushes. The first line names the locks that are watched, the rest is what the
/// server sends.
void push(std::string_view input);

/// Any bytes, as a server sends them, in pieces whose size the first byte says: what the guard lets
/// through is what a simple reading of the protocol lets through, and the parser survives it.
void guard(std::string_view input);

/// The replies of a cluster node about its topology, and its redirections: see topology.cpp.
void topology(std::string_view input);

/// Bytes, in a form that can be read; empty when they are.
std::string quoted(std::string_view bytes);

/// Ends the process with this text.
[[noreturn]] void fail(const std::string& promise);

/// `more` is what it was about.
inline void require(bool kept, const char* promise, std::string_view more = {})
{
    if (!kept)
        fail(std::string(promise) + (more.empty() ? "" : ": ") + quoted(more));
}

/// The text before the first line end; `rest` becomes the text after it.
std::string_view take_line(std::string_view& rest);

} // namespace leasehold::fuzz

#endif
