#ifndef LEASEHOLD_TOOL_REDIS_LOCK_READER_HPP
#define LEASEHOLD_TOOL_REDIS_LOCK_READER_HPP

#include "key_scan.hpp"
#include "locks/lock_admin.hpp"
#include "server/servers.hpp"

#include "redis/commands/native_keys.hpp"
#include "redis/redlock/member_names.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::tool {

/// Reads locks of all layouts, and changes nothing. Names are without the prefix of the URL.
class lock_reader
{
public:
    explicit lock_reader(servers& where)
        : servers_(where), keys_(where.where().prefix), member_keys_(where.where().prefix)
    {}

    /// Lists the locks.
    /// @param pattern A pattern of `SCAN`.
    /// @throws interrupted
    [[nodiscard]] lock_list list(const std::string& pattern);

    /// Reads locks again that were read before.
    /// @throws interrupted
    [[nodiscard]] lock_list read_again(const std::vector<lock_state>& known);

    /// Reads the locks among the next keys of a scan.
    /// @param known The names of locks to leave out.
    /// @throws unreachable, refused, interrupted
    [[nodiscard]] lock_list read_page(key_scan& from, const std::set<std::string>& known);

    /// Reads all details of a lock. Returns no value if it is free.
    /// @throws unreachable, refused, usage_error (it is not a lock)
    [[nodiscard]] std::optional<lock_state> read(const std::string& name);

private:
    using commands = std::vector<servers::keyed_command>;
    using answers = std::vector<resp_value>;
    /// Queries the servers that have the keys.
    using asker = std::function<answers(const commands&)>;

    [[nodiscard]] asker all_of_them();
    [[nodiscard]] asker member(std::size_t place);
    /// Stores rejected commands, so that they are not taken for missing keys.
    answers checked(const commands& queries, answers replies);
    void report_refusals(lock_list& to) const;
    [[nodiscard]] std::string name_of(const std::string& key) const;
    [[nodiscard]] command_words info_question(const std::string& client) const;
    // In these functions, the name of each lock is its key.
    [[nodiscard]] std::optional<lock_state> find(const std::string& key);
    [[nodiscard]] lock_list finished(lock_list of) const;
    void read_page(key_scan& from, std::vector<lock_state>& to,
                   const std::function<bool(const std::string&)>& is_wanted);
    static void read_in_parts(const std::vector<std::string>& keys,
                              const std::function<void(const std::vector<std::string>&)>& read);
    void read_strings(const asker& ask, const std::vector<std::string>& names,
                      std::vector<lock_state>& to, bool external = false);
    void read_hashes(const asker& ask, const std::vector<std::string>& names,
                     std::vector<lock_state>& to);
    void read_native(const asker& ask, std::vector<lock_state>& locks);
    void read_redisson(const asker& ask, std::vector<lock_state>& locks);
    void read_member(const asker& ask, std::vector<lock_state>& locks);
    void read_rest(const asker& ask, std::vector<lock_state>& locks,
                   const std::function<commands(const lock_state&)>& of,
                   const std::function<void(lock_state&, const resp_value*)>& take);
    void read_line(lock_state& of);
    /// Reads the details of all clients that have none yet.
    template <class LockOrWaiter>
    void describe(const asker& ask, std::vector<LockOrWaiter>& of);
    void describe_by_members(std::vector<lock_state>& locks, const std::vector<std::size_t>& places,
                             std::vector<std::string>& problems);
    static void keep_details(const std::vector<lock_state>& known, std::vector<lock_state>& to);
    void list_keys(const std::string& pattern, lock_list& all);
    void read_keys(const std::vector<lock_state>& known, lock_list& all);
    void list_quorum(const std::string& pattern, lock_list& all);
    void read_at_members(const std::vector<lock_state>& known, lock_list& all);
    void at_members(
        lock_list& all, const std::vector<lock_state>& known,
        const std::function<void(std::size_t place, std::vector<lock_state>& found)>& read);
    [[nodiscard]] std::vector<lock_state> merge(const std::vector<std::vector<lock_state>>& seen);
    [[nodiscard]] std::size_t quorum() const;

    servers& servers_;
    const redis_store::native_keys keys_;
    const quorum::member_keys member_keys_;
    std::map<std::string, std::string> refusals_; ///< By command.
};

/// Returns true if a key has a reserved prefix and so is not a lock.
[[nodiscard]] bool is_reserved(std::string_view key) noexcept;

} // namespace leasehold::tool

#endif
