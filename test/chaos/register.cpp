#include "chaos/register.hpp"

#include <sstream>

namespace leasehold::test::chaos {
namespace {

// KEYS number and newest fence, ARGV fence, whether it counts. Reading is the first half of an
// update: it rejects older fences as well.
const std::string read_script = R"(
local newest = tonumber(redis.call('HGET', KEYS[1], 'fence') or '0')
if ARGV[2] == '1' and tonumber(ARGV[1]) < newest then
    return -1
end
redis.call('HSET', KEYS[1], 'fence', ARGV[1])
return tonumber(redis.call('HGET', KEYS[1], 'value') or '0')
)";

// KEYS as above, and the list of writes. ARGV fence, whether it counts, value, writer.
const std::string write_script = R"(
local newest = tonumber(redis.call('HGET', KEYS[1], 'fence') or '0')
if ARGV[2] == '1' and tonumber(ARGV[1]) < newest then
    return 0
end
redis.call('HSET', KEYS[1], 'fence', ARGV[1], 'value', ARGV[3])
redis.call('RPUSH', KEYS[2], ARGV[1] .. ' ' .. ARGV[3] .. ' ' .. ARGV[4])
return 1
)";

// The register has no faults, but its client may be stopped meanwhile.
constexpr auto patient = std::chrono::seconds(120);

} // namespace

fenced_register::fenced_register(const std::string& socket, bool fenced)
    : store_(local_endpoint(socket), patient), fenced_(fenced ? "1" : "0")
{}

std::optional<std::int64_t> fenced_register::read(const std::string& name, std::uint64_t fence)
{
    const std::int64_t value = store_.integer(
        {"EVAL", read_script, "1", "register:" + name, std::to_string(fence), fenced_});
    return value < 0 ? std::nullopt : std::optional(value);
}

bool fenced_register::put(const std::string& name, const write& written)
{
    return store_.integer({"EVAL", write_script, "2", "register:" + name, "writes:" + name,
                           std::to_string(written.fence), fenced_, std::to_string(written.value),
                           written.client + ' ' + std::to_string(written.op)}) == 1;
}

std::vector<write> fenced_register::writes(const std::string& name)
{
    std::vector<write> all;
    for (const std::string& line : store_.strings({"LRANGE", "writes:" + name, "0", "-1"})) {
        std::istringstream words(line);
        write each;
        words >> each.fence >> each.value >> each.client >> each.op;
        all.push_back(std::move(each));
    }
    return all;
}

} // namespace leasehold::test::chaos
