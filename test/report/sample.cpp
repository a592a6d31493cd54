// Writes a page with everything that a timeline can show, including hostile texts, to the named
// file.
#include "report/page.hpp"
#include "report/timeline.hpp"

#include <iostream>
#include <string>

int main(int count, char** words)
{
    using leasehold::report::look;
    if (count != 2) {
        std::cerr << "usage: report_sample FILE\n";
        return 2;
    }
    leasehold::report::timeline all("a title </script><script>throw 1</script>");
    all.fact("name \"quoted\"", "\\ \n \x01 \xff </script>");
    const auto lane = all.lane("process 1"), server = all.lane("a server");
    const auto held = all.begin_bar(lane, 1.5, look::lease, "4711", "granted");
    all.mark(lane, 1.25, look::message, "<b>asks</b>");
    all.mark(server, 1.3, look::message, "line\nline");
    all.mark(lane, 3, look::loss, "lost");
    all.mark(lane, 3.5, look::wrong, "wrong");
    all.end_bar(held, 2.5, "released");
    all.begin_bar(lane, 2.75, look::lease, "4712", "without an end");
    all.end_bar(all.begin_bar(server, 1, look::fault, "slow", "slow"), 2);
    all.end_bar(all.begin_bar(lane, 3, look::stopped, "stopped", "stopped"), 3.25);
    all.end_bar(all.begin_bar(server, 1.5, look::lock, "4711", "taken"), 2.5);
    const auto waiting = all.begin_bar(all.lane(std::string(40, 'l')), 2, look::waiting, "waits",
                                       "");
    all.end_bar(waiting, 3);
    all.set_label(waiting, "has waited");
    all.end_at(4.5);
    leasehold::report::write_page_file(words[1], all.to_json());
}
