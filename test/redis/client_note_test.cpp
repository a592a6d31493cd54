// The record of a client: its content, and the times of its writes.
#include <boost/test/unit_test.hpp>

#include "redis/pipeline/client_note.hpp"
#include "redis/resp_text.hpp"

#include <leasehold/client_info.hpp>
#include <leasehold/clock.hpp>

#include <boost/redis/request.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::redis_store;
using namespace std::chrono_literals;
using words = std::vector<std::string>;

const std::string client_of_all = "0000000a";
const std::string owner_of_all = "0000000a-1111-1111-1111-111111111111:7";
const std::string key_of_all = "leasehold:client:" + client_of_all;

const client_info full_info{.host = "machine",
                            .program = "orders",
                            .version = "1.2.3",
                            .pid = 4'711,
                            .since = std::chrono::sys_time<std::chrono::milliseconds>(1'700'000ms)};

constexpr clock::time_point begin{std::chrono::hours(1)};

std::vector<words> written(client_note& note, clock::time_point now = begin)
{
    boost::redis::request to;
    const call made = note.write(now, to);
    const auto all = test::commands_in(to.payload());
    BOOST_TEST(made.commands == all.size());
    BOOST_TEST(to.payload().size() <= note.size());
    return all;
}

bool is_due(const client_note& note, clock::time_point now)
{
    return now >= note.due;
}

std::string life_of(const std::vector<words>& all)
{
    return all.at(1).at(2);
}

reply error(std::string_view text)
{
    reply made;
    made.error = text;
    return made;
}

reply text(std::string_view said)
{
    reply made;
    made.text = said;
    return made;
}

} // namespace

BOOST_AUTO_TEST_SUITE(client_notes)

BOOST_AUTO_TEST_CASE(client_note_is_written_with_a_ttl)
{
    client_note note(full_info);
    BOOST_TEST((note.info() == full_info));
    note.belongs_to(owner_of_all);
    const std::vector<words> wanted = {{"HSET", key_of_all, "host", "machine", "pid", "4711",
                                        "program", "orders", "since", "1700000", "version",
                                        "1.2.3"},
                                       {"PEXPIRE", key_of_all, "600000"}};
    BOOST_TEST((written(note) == wanted));
    boost::redis::request away;
    BOOST_TEST(note.remove(away).commands == 1u);
    BOOST_TEST((test::commands_in(away.payload()) == std::vector<words>{{"DEL", key_of_all}}));
}

BOOST_AUTO_TEST_CASE(client_note_is_due_after_the_first_owner)
{
    client_note note(full_info);
    BOOST_TEST(!is_due(note, begin));
    note.belongs_to("no owner of this library");
    BOOST_TEST(!is_due(note, begin));
    note.belongs_to(owner_of_all);
    BOOST_TEST(is_due(note, begin));
    // The first owner counts, because a client has one name.
    note.belongs_to("0000000b-1111-1111-1111-111111111111:1");
    BOOST_TEST(note.key() == key_of_all);
}

BOOST_AUTO_TEST_CASE(client_note_is_due_again_after_a_third_of_its_ttl)
{
    client_note note(full_info);
    note.belongs_to(owner_of_all);
    note.lives_for(30s);
    written(note);
    BOOST_TEST(!is_due(note, begin));
    BOOST_TEST(!is_due(note, begin + 200s - 1ms));
    BOOST_TEST(is_due(note, begin + 200s));
    written(note, begin + 200s);
    BOOST_TEST(!is_due(note, begin + 400s - 1ms));
    BOOST_TEST(is_due(note, begin + 400s));
}

// A holder with such a long lease also renews rarely.
BOOST_AUTO_TEST_CASE(ttl_of_a_client_note_is_three_of_the_longest_lease)
{
    client_note note(full_info);
    note.belongs_to(owner_of_all);
    note.lives_for(200s);
    BOOST_TEST(life_of(written(note)) == "600000");
    note.lives_for(300s);
    BOOST_TEST(!is_due(note, begin)); // two leases fit into the TTL
    note.lives_for(300s + 1ms);
    BOOST_TEST(is_due(note, begin));
    note.lives_for(1s); // another, shorter one
    BOOST_TEST(is_due(note, begin));
    BOOST_TEST(life_of(written(note)) == "900003");
    BOOST_TEST(!is_due(note, begin));
    note.lives_for(std::chrono::milliseconds::max());
    BOOST_TEST(life_of(written(note)).size() == 12u); // decades, and no overflow
}

BOOST_AUTO_TEST_CASE(postponed_client_note_is_due_later_or_at_a_new_connection)
{
    client_note note(full_info);
    note.belongs_to(owner_of_all);
    note.put_off(begin + 10s);
    BOOST_TEST(!is_due(note, begin + 10s - 1ms));
    BOOST_TEST(is_due(note, begin + 10s));
    note.put_off(begin + 20s);
    note.begin(); // a connected server
    BOOST_TEST(is_due(note, begin));
}

BOOST_AUTO_TEST_CASE(client_note_is_due_again_at_a_new_connection)
{
    client_note note(full_info);
    note.belongs_to(owner_of_all);
    written(note);
    BOOST_TEST(!is_due(note, begin));
    note.begin();
    BOOST_TEST(is_due(note, begin));
}

BOOST_AUTO_TEST_CASE(replies_decide_whether_a_client_note_is_written_again)
{
    const reply yes{}, no = error("NOPERM no"), later = error("LOADING later");
    struct row
    {
        const reply& first;
        const reply& second;
        bool stays; ///< The note exists without a TTL.
        bool again; ///< The note may be written to this server again.
    };
    const row table[] = {
        {yes, yes, false, true},   {yes, no, true, false},      {no, yes, false, false},
        {no, no, false, false},    {yes, later, true, true},    {later, yes, false, true},
        {later, no, false, false}, {later, later, false, true}, {no, later, false, false},
    };
    for (const row& each : table) {
        client_note note(full_info);
        note.belongs_to(owner_of_all);
        written(note);
        const std::array told{each.first, each.second};
        BOOST_TEST(note.answered(told) == each.stays);
        BOOST_TEST((begin + 200s >= note.due) == each.again);
        note.begin();
        BOOST_TEST(is_due(note, begin));
    }
    client_note note(full_info);
    BOOST_TEST(!note.answered({}));
}

BOOST_AUTO_TEST_CASE(every_field_of_a_client_note_is_read)
{
    note_reading reading({}, client_of_all);
    BOOST_TEST(reading.key() == key_of_all);
    const std::array<std::string, note_reading::fields> names = {"host", "pid", "program", "since",
                                                                 "version"};
    const std::array<std::string, note_reading::fields> values = {"machine", "4711", "orders",
                                                                  "1700000", "1.2.3"};
    for (std::size_t i = 0; i < note_reading::fields; ++i) {
        boost::redis::request to;
        BOOST_TEST(reading.ask(i, to).commands == 1u);
        BOOST_TEST((test::commands_in(to.payload()) ==
                    std::vector<words>{{"HGET", key_of_all, names[i]}}));
        reading.take(i, std::array{text(values[i])});
    }
    BOOST_TEST((reading.found() == full_info));
}

// Any client may have written it.
BOOST_AUTO_TEST_CASE(invalid_or_long_fields_of_a_client_note_are_cut)
{
    for (const char* const number : {"", "x", "1x", " 1", "-1", "0", "99999999999999999999"}) {
        note_reading reading({}, client_of_all);
        reading.take(1, std::array{text(number)});
        reading.take(3, std::array{text(number)});
        BOOST_TEST(reading.found().empty(), number);
    }
    note_reading reading({}, client_of_all);
    reading.take(0, std::array{text(std::string(300, 'h'))});
    reading.take(2, std::array{text(std::string(256, 'p'))});
    BOOST_TEST(reading.found().host == std::string(256, 'h'));
    BOOST_TEST(reading.found().program == std::string(256, 'p'));
    reading.take(4, std::array{error("WRONGTYPE of another type")});
    reading.take(4, std::array{reply{}});
    reading.take(4, {});
    BOOST_TEST(reading.found().version.empty());
}

BOOST_AUTO_TEST_SUITE_END()
