#ifndef LEASEHOLD_SRC_TESTING_SERVER_LUA_INTERPRETER_HPP
#define LEASEHOLD_SRC_TESTING_SERVER_LUA_INTERPRETER_HPP

#include "base/mutant.hpp"
#include "redis/protocol/script.hpp"
#include "testing/server/block_pool.hpp"
#include "testing/server/message.hpp"
#include "testing/server/reply_sink.hpp"
#include "testing/server/verbs.hpp"

#include <exception>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

struct lua_State;

namespace leasehold::testing::impl {

/// Runs scripts as a Redis server does: with Lua 5.1, in an environment that they cannot change.
/// All simulated servers of a thread share one interpreter, because a script leaves nothing behind.
class lua_interpreter
{
public:
    /// Runs the commands that a script calls.
    class commands
    {
    public:
        virtual void run(words command, reply_sink& out) = 0;

    protected:
        ~commands() = default;
    };

    struct result
    {
        message reply;
        std::string error; ///< Not empty: the error that ended the script. There is no reply then.
        int line = 0;      ///< Of the script, where the error occurred.
    };

    [[nodiscard]] static lua_interpreter& of_this_thread();

    lua_interpreter();
    ~lua_interpreter();
    lua_interpreter(const lua_interpreter&) = delete;
    lua_interpreter& operator=(const lua_interpreter&) = delete;

    /// Throws what `server` throws; std::logic_error if a script is running.
    result run(const redis_store::script& called, words keys, words arguments, commands& server);

private:
    static int call(lua_State* lua);
    static int protected_call(lua_State* lua);

    bool run_command(lua_State* lua) noexcept;
    bool push_script(const redis_store::script& called);

    block_pool memory_;
    lua_State* lua_;
    std::map<std::string, int, std::less<>> compiled_; ///< By SHA-1; references of Lua.
    std::vector<std::string_view> command_;
    commands* server_ = nullptr; ///< Of the script that is running.
    std::exception_ptr thrown_;  ///< By the server.
#ifdef LEASEHOLD_MUTANTS
    void forget_scripts();

    mutant compiled_for_ = mutant::none;
#endif
};

} // namespace leasehold::testing::impl

#endif
