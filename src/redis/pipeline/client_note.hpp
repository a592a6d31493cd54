#ifndef LEASEHOLD_SRC_REDIS_PIPELINE_CLIENT_NOTE_HPP
#define LEASEHOLD_SRC_REDIS_PIPELINE_CLIENT_NOTE_HPP

#include "redis/commands/command_set.hpp"
#include "redis/connection/environment.hpp"

#include <leasehold/client_info.hpp>
#include <leasehold/clock.hpp>
#include <leasehold/config.hpp>
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

/// The data that a request compares before it calls the record: most requests do not need it.
struct note_schedule
{
    bool named = false;                        ///< An owner of the client is known.
    std::chrono::milliseconds longest_lease{}; ///< Of the requests so far; ten years at most.
    clock::time_point due = clock::time_point::max(); ///< When it is to be written.
};

/// The hash in which a client says who it is: when it is to be written, and with which words. It
/// goes out behind a request that is sent anyway, so an idle client writes none; it lives for so
/// long that whoever holds a lock has renewed it before. On the strand.
class client_note : public note_schedule
{
public:
    /// Null: none is to be written.
    [[nodiscard]] static std::shared_ptr<client_note> make(const config& settings,
                                                           environment& from);

    explicit client_note(client_info said) : said_(std::move(said)) {}

    [[nodiscard]] const client_info& said() const noexcept { return said_; }

    /// A request goes out: of this owner, for so long a lease. That of an entry may be another
    /// client's.
    void goes_with(std::string_view owner, std::string_view entry, std::chrono::milliseconds lease)
    {
        if (entry.empty())
            belongs_to(owner);
        lives_for(lease);
    }
    void belongs_to(std::string_view owner);
    void lives_for(std::chrono::milliseconds lease) noexcept;

    /// A server is there that may not have it.
    void begin() noexcept;

    /// Where it is kept.
    [[nodiscard]] const std::string& key() const noexcept { return key_; }

    /// How many bytes the commands take, at most.
    [[nodiscard]] std::size_t size() const noexcept;
    /// Writes the commands.
    call write(clock::time_point now, boost::redis::request& to);
    /// Nobody is there to take it; not again before this is over.
    void put_off(clock::time_point until) noexcept;

    /// They were answered. True: it is there, and would stay for ever.
    [[nodiscard]] bool answered(answers told);
    /// Takes it away.
    call remove(boost::redis::request& to) const;

private:
    void schedule() noexcept;

    const client_info said_;
    std::string key_;
    clock::time_point written_ = clock::time_point::min();
    clock::time_point not_before_ = clock::time_point::min();
    std::chrono::milliseconds life_{}; ///< That it was written with.
    bool refused_ = false;             ///< By this server, to this user.
};

/// What a client of this name wrote: one field after the other, because the right to read one is
/// what a user has anyway.
class note_reading
{
public:
    static constexpr std::size_t fields = 5;

    explicit note_reading(std::string_view holder);

    [[nodiscard]] const std::string& key() const noexcept { return key_; }
    /// Writes the command that asks for the field of that number.
    call ask(std::size_t number, boost::redis::request& to) const;
    void take(std::size_t number, answers told);
    /// All that was found.
    [[nodiscard]] const client_info& found() const noexcept { return found_; }

private:
    std::string key_;
    client_info found_;
};

} // namespace leasehold::redis_store

#endif
