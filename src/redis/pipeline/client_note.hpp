#ifndef LEASEHOLD_SRC_REDIS_PIPELINE_CLIENT_NOTE_HPP
#define LEASEHOLD_SRC_REDIS_PIPELINE_CLIENT_NOTE_HPP

#include "redis/commands/command_set.hpp"
#include "redis/connection/environment.hpp"

#include <leasehold/client_info.hpp>
#include <leasehold/clock.hpp>
#include <leasehold/redis_config.hpp>
#include <leasehold/store.hpp>

#include <boost/redis/request.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold::redis_store {

class batch;
class pipeline;

/// The data that each request checks. Most requests then do not need the rest of the record.
struct note_schedule
{
    bool named = false;                        ///< The key is known, from an owner of the client.
    std::chrono::milliseconds longest_lease{}; ///< Of the requests so far; at most ten years.
    clock::time_point due = clock::time_point::max(); ///< Time of the next write.
};

/// The description of a client, a hash in the store: the times of its writes, and their commands.
/// Each write follows a request, so an idle client writes none. Its TTL is long enough that a
/// client with a lock writes it again before it expires. Used on the strand.
class client_note : public note_schedule
{
public:
    /// Returns null if there is nothing to write.
    [[nodiscard]] static std::shared_ptr<client_note> make(const redis_config& settings,
                                                           environment& from);

    /// @param prefix As in `redis_config`.
    explicit client_note(client_info info, std::string prefix = {})
        : info_(std::move(info)), prefix_(std::move(prefix))
    {}

    [[nodiscard]] const client_info& info() const noexcept { return info_; }

    /// Called for each request. The owner of a reentrant acquisition may be another client's.
    void goes_with(std::string_view owner, std::string_view entry, std::chrono::milliseconds lease)
    {
        if (entry.empty())
            belongs_to(owner);
        lives_for(lease);
    }
    void belongs_to(std::string_view owner);
    void lives_for(std::chrono::milliseconds lease) noexcept;

    /// Called for a new connection: the server may not have the record.
    void begin() noexcept;

    /// The key of the record.
    [[nodiscard]] const std::string& key() const noexcept { return key_; }

    /// The maximum size of the commands, in bytes.
    [[nodiscard]] std::size_t size() const noexcept;
    /// Writes the commands.
    call write(clock::time_point now, boost::redis::request& to);
    /// Postpones the write, because no server can be reached.
    void put_off(clock::time_point until) noexcept;

    /// Reads the answers. Returns true if the record was written without a TTL.
    [[nodiscard]] bool answered(answers replies);
    /// Writes the command that deletes the record.
    call remove(boost::redis::request& to) const;

private:
    void schedule() noexcept;

    const client_info info_;
    const std::string prefix_;
    std::string key_;
    clock::time_point written_ = clock::time_point::min();
    clock::time_point not_before_ = clock::time_point::min();
    std::chrono::milliseconds life_{}; ///< The TTL of the last write.
    bool refused_ = false;             ///< This server rejects the write of this user.
};

/// Adds the commands that write the record to a batch. If there is no memory, the next batch does.
void add_note(const std::shared_ptr<client_note>& note, batch& to, pipeline& through);

/// Sends these commands at once.
void write_note(const std::shared_ptr<client_note>& note, pipeline& through);

/// Reads the record of a client. Reads each field with HGET, because every user of locks has the
/// permission for it.
class note_reading
{
public:
    static constexpr std::size_t fields = 5;

    /// @param prefix As in `redis_config`.
    note_reading(std::string_view prefix, std::string_view holder);

    [[nodiscard]] const std::string& key() const noexcept { return key_; }
    /// Writes the command that reads one field.
    call ask(std::size_t number, boost::redis::request& to) const;
    void take(std::size_t number, answers replies);
    /// The fields that were found.
    [[nodiscard]] const client_info& found() const noexcept { return found_; }

private:
    std::string key_;
    client_info found_;
};

/// Reads the record. The handler is never called inside the call.
void read_note(pipeline& through, note_reading note, store::describe_handler handler);

} // namespace leasehold::redis_store

#endif
