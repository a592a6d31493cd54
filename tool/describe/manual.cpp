#include "description.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace leasehold::tool {
namespace {

constexpr char environment_section[] = R"(.SH ENVIRONMENT
.TP
.B LEASEHOLD_URL
The store of the locks, if there is no
.BR \-\-url .
.TP
.B LEASEHOLD_ADMIN_URL
The same for
.B \-\-admin
of
.BR "leasehold doctor" .
.TP
.BR LEASEHOLD_KEY ", " LEASEHOLD_FENCE ", " LEASEHOLD_OWNER
Set by
.B leasehold run
for the command that it runs.
.SH EXAMPLES
A job that is started on several machines, but must run on only one:
.PP
.RS
.EX
leasehold run \-\-no\-wait nightly\-report \-\- /usr/local/bin/report
.EE
.RE
)";

/// Escapes plain text for the typesetter.
std::string escaped(std::string_view text)
{
    std::string made;
    for (const char each : text) {
        switch (each) {
        case '\\': made += "\\e"; break;
        case '-': made += "\\-"; break;
        case '^': made += "\\(ha"; break;
        case '~': made += "\\(ti"; break;
        case '\'': made += "\\(aq"; break;
        case '`': made += "\\(ga"; break;
        default: made += each;
        }
    }
    return made;
}

/// Appends a line, and escapes a beginning that would be a request.
void append_line(std::string_view text, std::string& to)
{
    if (text.starts_with('.'))
        to += "\\&";
    to.append(escaped(text)).append("\n");
}

/// Appends paragraphs, which are separated by empty lines. Indented lines are verbatim.
/// @param begins The text needs a separator before it.
void append_text(std::string_view text, bool begins, std::string& to)
{
    bool is_verbatim = false;
    const auto switch_to = [&](bool verbatim) {
        if (verbatim != is_verbatim)
            to += verbatim ? ".PP\n.EX\n" : ".EE\n";
        is_verbatim = verbatim;
    };
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty()) {
            switch_to(false);
            begins = true;
            continue;
        }
        const bool verbatim = line.starts_with("  ");
        if (!verbatim && (begins || is_verbatim)) {
            switch_to(false);
            to += ".PP\n";
        }
        switch_to(verbatim);
        begins = false;
        append_line(line, to);
    }
    switch_to(false);
}

/// "[OPTION...] KEY": words in capitals are placeholders.
std::string emphasized(std::string_view usage)
{
    std::string made;
    bool is_cursive = false;
    for (const char each : usage) {
        const bool is_capital = std::isupper(static_cast<unsigned char>(each)) != 0;
        if (is_capital != is_cursive)
            made += is_capital ? "\\fI" : "\\fR";
        is_cursive = is_capital;
        made += escaped(std::string_view(&each, 1));
    }
    return made + (is_cursive ? "\\fR" : "");
}

void append_command(const described_command& of, std::string& to)
{
    to.append(".SS leasehold ").append(emphasized(of.usage)).append("\n");
    append_text(of.about, false, to);
    for (const command_line::option& each : of.options) {
        to.append(".TP\n\\fB").append(escaped(each.name)).append("\\fR");
        if (!each.placeholder.empty())
            to.append(" \\fI").append(escaped(each.placeholder)).append("\\fR");
        to += '\n';
        std::string_view rest = each.help;
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find('\n'), rest.size());
            append_line(rest.substr(0, end), to);
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
    append_text(of.notes, true, to);
}

} // namespace

std::string make_manual(const std::vector<described_command>& commands, std::string_view version)
{
    std::string text = ".\\\" Made from the program's own options.\n";
    text.append(".TH LEASEHOLD 1 \"\" \"leasehold ").append(version).append("\"\n");
    text += ".SH NAME\nleasehold \\- locks for scripts, kept in Redis or Valkey\n"
            ".SH SYNOPSIS\n";
    for (const described_command& each : commands) {
        if (&each != commands.data())
            text += ".br\n";
        text.append(".B leasehold\n").append(emphasized(each.usage)).append("\n");
    }
    text += ".SH DESCRIPTION\n"
            "A lock has one owner at a time, and a lease time: if the owner\n"
            "dies or hangs, the lock expires.\n"
            "Each acquired lock has a fencing token, a number that is larger\n"
            "than all that were granted before for its name.\n"
            "Send it with each write, and have the resource reject a token\n"
            "smaller than the largest it has seen.\n"
            ".SH COMMANDS\n";
    for (const described_command& each : commands)
        append_command(each, text);
    return text + environment_section;
}

} // namespace leasehold::tool
