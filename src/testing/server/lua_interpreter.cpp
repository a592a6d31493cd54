#include "testing/server/lua_interpreter.hpp"

#ifdef LEASEHOLD_MUTANTS
#include "testing/server/script_mutants.hpp"
#endif

#include <lua.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <utility>

// An error of Lua is a longjmp that skips destructors. So a function that raises one has no object
// with a destructor, and a failed allocation ends the process.
namespace leasehold::testing::impl {
namespace {

using redis_store::script;

// The bottom of the stack.
constexpr int globals = 1;
constexpr int message_handler = 2;

void push(lua_State* lua, std::string_view text)
{
    lua_pushlstring(lua, text.data(), text.size());
}

std::string_view text_at(lua_State* lua, int index)
{
    std::size_t size = 0;
    const char* const text = lua_tolstring(lua, index, &size);
    return {text, size};
}

/// A table with one field: an error or a status.
void push_table(lua_State* lua, const char* field, std::string_view text)
{
    lua_createtable(lua, 0, 1);
    push(lua, text);
    lua_setfield(lua, -2, field);
}

/// Leaves the reply to a command on the stack.
class stack_sink final : public reply_sink
{
public:
    explicit stack_sink(lua_State* lua) noexcept : lua_(lua) {}

    void number(std::int64_t value) override
    {
        lua_pushnumber(lua_, static_cast<lua_Number>(value));
        add();
    }
    void text(std::string_view value) override
    {
        push(lua_, value);
        add();
    }
    void null() override
    {
        lua_pushboolean(lua_, 0);
        add();
    }
    void status(std::string_view value) override { push_table(lua_, "ok", value); }
    void error(std::string_view value) override
    {
        push_table(lua_, "err", value);
        failed = true;
    }
    void begin(message::type of, std::size_t elements) override
    {
        // Scripts use RESP2, which has no maps.
        lua_createtable(lua_, static_cast<int>(elements * (of == message::type::map ? 2 : 1)), 0);
        in_list_ = true;
    }

    bool failed = false;

private:
    void add()
    {
        if (in_list_)
            lua_rawseti(lua_, -2, ++size_);
    }

    lua_State* lua_;
    bool in_list_ = false;
    int size_ = 0;
};

using number_text = std::array<char, 32>;

std::string_view digits_of(std::int64_t number, number_text& into)
{
    return {into.data(), std::to_chars(into.begin(), into.end(), number).ptr};
}

/// Redis does a cast. A number that is too large becomes what usual processors make of it.
std::int64_t truncated(lua_Number number)
{
    constexpr lua_Number limit = 9223372036854775808.0;
    return number >= -limit && number < limit ? static_cast<std::int64_t>(number)
                                              : std::numeric_limits<std::int64_t>::min();
}

/// Whether the table has this field as a text, which is then on the stack.
bool push_field(lua_State* lua, int table, const char* name)
{
    lua_pushstring(lua, name);
    lua_rawget(lua, table);
    if (lua_type(lua, -1) == LUA_TSTRING)
        return true;
    lua_pop(lua, 1);
    return false;
}

void add_reply(lua_State* lua, message& reply, std::size_t depth);

/// A table without the field of an error or a status is an array, up to its first nil.
void add_array(lua_State* lua, message& reply, std::size_t depth)
{
    const int table = lua_gettop(lua);
    std::size_t size = lua_objlen(lua, table);
    for (std::size_t i = 1; i <= size; ++i) {
        lua_rawgeti(lua, table, static_cast<int>(i));
        if (lua_isnil(lua, -1))
            size = i - 1;
        lua_pop(lua, 1);
    }
    if (depth == 0)
        reply.reserve(size + 1);
    reply.begin(message::type::array, size, depth);
    for (std::size_t i = 1; i <= size; ++i) {
        lua_rawgeti(lua, table, static_cast<int>(i));
        add_reply(lua, reply, depth + 1);
        lua_pop(lua, 1);
    }
}

/// Adds the value on top of the stack.
void add_reply(lua_State* lua, message& reply, std::size_t depth)
{
    using type = message::type;
    constexpr int needed = 4; // slots on the stack
    number_text digits;
    switch (lua_type(lua, -1)) {
    case LUA_TNUMBER:
        return reply.add(type::number, digits_of(truncated(lua_tonumber(lua, -1)), digits), depth);
    case LUA_TSTRING: return reply.add(type::blob_string, text_at(lua, -1), depth);
    case LUA_TBOOLEAN:
        if (lua_toboolean(lua, -1) != 0)
            return reply.add(type::number, "1", depth);
        return reply.add(type::null, {}, depth);
    case LUA_TTABLE:
        if (lua_checkstack(lua, needed) == 0)
            return reply.add(type::simple_error, "ERR reached lua stack limit", depth);
        for (const auto& [name, of] :
             {std::pair("err", type::simple_error), std::pair("ok", type::simple_string)}) {
            if (push_field(lua, lua_gettop(lua), name)) {
                reply.add(of, text_at(lua, -1), depth);
                return lua_pop(lua, 1);
            }
        }
        return add_array(lua, reply, depth);
    default: return reply.add(type::null, {}, depth);
    }
}

/// redis.error_reply: a code stays, and a text without one gets the general code.
int error_reply(lua_State* lua)
{
    if (lua_gettop(lua) != 1 || lua_type(lua, 1) != LUA_TSTRING) {
        push_table(lua, "err", "ERR wrong number or type of arguments");
        return 1;
    }
    std::string_view text = text_at(lua, 1);
    if (text.starts_with('-'))
        text.remove_prefix(1);
    if (text.find(' ') == std::string_view::npos) {
        lua_pushliteral(lua, "ERR ");
        push(lua, text);
        lua_concat(lua, 2);
        text = text_at(lua, -1);
    }
    push_table(lua, "err", text);
    return 1;
}

int sha1hex(lua_State* lua)
{
    if (lua_gettop(lua) != 1)
        return luaL_error(lua, "wrong number of arguments");
    {
        const script hashed(text_at(lua, 1));
        push(lua, hashed.sha);
    }
    return 1;
}

int no_such_global(lua_State* lua)
{
    return luaL_error(lua, "Script attempted to access nonexistent global variable '%s'",
                      lua_tostring(lua, 2));
}

int no_new_global(lua_State* lua)
{
    return luaL_error(lua, "Attempt to modify a readonly table");
}

/// Makes an error a table, with the line of the script that it came from.
int on_error(lua_State* lua)
{
    lua_Debug where{};
    const auto look_at = [&](int level) {
        return lua_getstack(lua, level, &where) != 0 && lua_getinfo(lua, "Sl", &where) != 0;
    };
    if (look_at(1) && *where.what == 'C')
        look_at(2); // an error of a function in C is one of its caller
    if (lua_istable(lua, 1) == 0) {
        const char* const text = lua_tostring(lua, 1);
        lua_createtable(lua, 0, 2);
        lua_pushfstring(lua, "ERR %s", text == nullptr ? luaL_typename(lua, 1) : text);
        lua_setfield(lua, -2, "err");
        lua_replace(lua, 1);
    }
    lua_settop(lua, 1);
    lua_pushliteral(lua, "line");
    lua_pushinteger(lua, where.currentline);
    lua_rawset(lua, 1);
    return 1;
}

/// The text of an argument of redis.call on the stack; false: it can have none.
bool make_text(lua_State* lua, int index)
{
    if (lua_type(lua, index) == LUA_TSTRING)
        return true;
    if (lua_type(lua, index) != LUA_TNUMBER)
        return false;
    // Lua itself would write 14 digits.
    const lua_Number number = lua_tonumber(lua, index);
    number_text digits;
    if (number == std::floor(number) && std::abs(number) < 1e17)
        push(lua, digits_of(static_cast<std::int64_t>(number), digits));
    else
        lua_pushlstring(
            lua, digits.data(),
            static_cast<std::size_t>(std::snprintf(digits.data(), digits.size(), "%.17g", number)));
    lua_replace(lua, index);
    return true;
}

void set_list(lua_State* lua, const char* name, words values)
{
    lua_createtable(lua, static_cast<int>(values.size()), 0);
    int place = 0;
    for (const std::string_view each : values) {
        push(lua, each);
        lua_rawseti(lua, -2, ++place);
    }
    lua_setfield(lua, globals, name);
}

/// Opens the libraries of Redis that the scripts of this library need.
void open_libraries(lua_State* lua)
{
    for (const auto& [name, open] :
         {std::pair("", &luaopen_base), std::pair(LUA_TABLIBNAME, &luaopen_table),
          std::pair(LUA_STRLIBNAME, &luaopen_string), std::pair(LUA_MATHLIBNAME, &luaopen_math)}) {
        lua_pushcfunction(lua, open);
        lua_pushstring(lua, name);
        lua_call(lua, 1, 0);
    }
    for (const char* const each : {"dofile", "loadfile", "print"}) {
        lua_pushnil(lua);
        lua_setglobal(lua, each);
    }
}

/// Scripts see the globals through an empty table: every assignment would create a new field.
void protect_globals(lua_State* lua)
{
    lua_createtable(lua, 0, 1);
    lua_pushcfunction(lua, no_such_global);
    lua_setfield(lua, -2, "__index");
    lua_setmetatable(lua, globals);

    lua_newtable(lua);
    lua_createtable(lua, 0, 3);
    lua_pushvalue(lua, globals);
    lua_setfield(lua, -2, "__index");
    lua_pushcfunction(lua, no_new_global);
    lua_setfield(lua, -2, "__newindex");
    lua_pushboolean(lua, 0);
    lua_setfield(lua, -2, "__metatable");
    lua_setmetatable(lua, -2);
    lua_pushvalue(lua, -1);
    lua_setfield(lua, globals, "_G");
    lua_replace(lua, LUA_GLOBALSINDEX);
}

} // namespace

lua_interpreter& lua_interpreter::of_this_thread()
{
    thread_local lua_interpreter all;
    return all;
}

lua_interpreter::lua_interpreter() : lua_(lua_newstate(&block_pool::reallocate, &memory_))
{
    lua_pushvalue(lua_, LUA_GLOBALSINDEX);
    lua_pushcfunction(lua_, on_error);
    open_libraries(lua_);
    lua_newtable(lua_);
    for (const auto& [name, function] : {std::pair("call", &lua_interpreter::call),
                                         std::pair("pcall", &lua_interpreter::protected_call)}) {
        lua_pushlightuserdata(lua_, this);
        lua_pushcclosure(lua_, function, 1);
        lua_setfield(lua_, -2, name);
    }
    lua_pushcfunction(lua_, error_reply);
    lua_setfield(lua_, -2, "error_reply");
    lua_pushcfunction(lua_, sha1hex);
    lua_setfield(lua_, -2, "sha1hex");
    lua_setfield(lua_, globals, "redis");
    protect_globals(lua_);
}

lua_interpreter::~lua_interpreter()
{
    lua_close(lua_);
}

/// Leaves the script on the stack as a function; false: an error.
bool lua_interpreter::push_script(const script& called)
{
#ifdef LEASEHOLD_MUTANTS
    if (std::exchange(compiled_for_, active_mutant) != active_mutant)
        forget_scripts();
#endif
    if (const auto known = compiled_.find(called.sha); known != compiled_.end()) {
        lua_rawgeti(lua_, LUA_REGISTRYINDEX, known->second);
        return true;
    }
#ifdef LEASEHOLD_MUTANTS
    const std::string text = with_mutant(called, active_mutant);
#else
    const std::string_view text = called.text;
#endif
    if (luaL_loadbuffer(lua_, text.data(), text.size(), "@user_script") != 0)
        return false;
    lua_pushvalue(lua_, -1);
    compiled_.emplace(called.sha, luaL_ref(lua_, LUA_REGISTRYINDEX));
    return true;
}

#ifdef LEASEHOLD_MUTANTS
void lua_interpreter::forget_scripts()
{
    for (const auto& [sha, reference] : std::exchange(compiled_, {}))
        luaL_unref(lua_, LUA_REGISTRYINDEX, reference);
}
#endif

lua_interpreter::result lua_interpreter::run(const script& called, words keys, words arguments,
                                             commands& server)
{
    if (server_ != nullptr)
        throw std::logic_error("a script has been called while another one is running");
    lua_settop(lua_, message_handler);
    if (!push_script(called))
        return {{}, "ERR Error compiling script (new function): " + std::string(text_at(lua_, -1))};
    set_list(lua_, "KEYS", keys);
    set_list(lua_, "ARGV", arguments);
    server_ = &server;
    const int failed = lua_pcall(lua_, 0, 1, message_handler);
    server_ = nullptr;
    if (thrown_)
        std::rethrow_exception(std::exchange(thrown_, nullptr));
    result all;
    if (failed == 0) {
        add_reply(lua_, all.reply, 0);
        return all;
    }
    const int error = lua_gettop(lua_);
    if (!push_field(lua_, error, "err"))
        lua_pushliteral(lua_, "ERR unknown error");
    all.error = text_at(lua_, -1);
    lua_pushliteral(lua_, "line");
    lua_rawget(lua_, error);
    all.line = static_cast<int>(lua_tointeger(lua_, -1));
    return all;
}

int lua_interpreter::call(lua_State* lua)
{
    auto& self = *static_cast<lua_interpreter*>(lua_touserdata(lua, lua_upvalueindex(1)));
    return self.run_command(lua) ? 1 : lua_error(lua);
}

int lua_interpreter::protected_call(lua_State* lua)
{
    auto& self = *static_cast<lua_interpreter*>(lua_touserdata(lua, lua_upvalueindex(1)));
    return self.run_command(lua) || !self.thrown_ ? 1 : lua_error(lua);
}

/// Leaves the reply to the command on the stack; false: it is an error.
bool lua_interpreter::run_command(lua_State* lua) noexcept
try {
    const int size = lua_gettop(lua);
    if (size == 0) {
        push_table(lua, "err", "ERR Please specify at least one argument for this redis lib call");
        return false;
    }
    command_.clear();
    for (int i = 1; i <= size; ++i) {
        if (!make_text(lua, i)) {
            push_table(lua, "err",
                       "ERR Lua redis lib command arguments must be strings or integers");
            return false;
        }
        command_.push_back(text_at(lua, i));
    }
    stack_sink reply(lua);
    server_->run(command_, reply);
    return !reply.failed;
}
catch (...) {
    thrown_ = std::current_exception();
    lua_pushnil(lua);
    return false;
}

} // namespace leasehold::testing::impl
