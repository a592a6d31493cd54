#include "description.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace leasehold::tool {
namespace {

constexpr char environment[] = R"(.SH ENVIRONMENT
.TP
.B LEASEHOLD_URL
Where the locks are kept, when there is no
.BR \-\-url .
.TP
.B LEASEHOLD_ADMIN_URL
The same for
.B \-\-admin
of
.BR "leasehold doctor" .
.TP
.BR LEASEHOLD_KEY ", " LEASEHOLD_FENCE ", " LEASEHOLD_OWNER
What
.B leasehold run
tells the command that it runs.
.SH EXAMPLES
A job that is started on several machines and must run on one:
.PP
.RS
.EX
leasehold run \-\-no\-wait nightly\-report \-\- /usr/local/bin/report
.EE
.RE
)";

/// Plain text as the typesetter takes it.
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

/// Lines; of each the beginning is no request.
void append_line(std::string_view text, std::string& to)
{
    if (text.starts_with('.'))
        to += "\\&";
    to.append(escaped(text)).append("\n");
}

/// Paragraphs are apart by an empty line. Indented lines stay as they are.
/// @param begins There is something before that it has to be apart from.
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

/// "[OPTION...] KEY": words in capitals are for others to fill in.
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
            "A lock belongs to one owner at a time, and has a time to live:\n"
            "when the owner dies or hangs, it is free soon.\n"
            "Each lock that is taken comes with a number, the fence, that is\n"
            "larger than all before for its name.\n"
            "Send it with every write, and let what you write to refuse a\n"
            "smaller one than it has seen.\n"
            ".SH COMMANDS\n";
    for (const described_command& each : commands)
        append_command(each, text);
    return text + environment;
}

} // namespace leasehold::tool
