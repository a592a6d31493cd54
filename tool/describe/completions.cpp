#include "description.hpp"

#include <algorithm>
#include <cstddef>

namespace leasehold::tool {
namespace {

/// Quotes a word for a shell, in single quotes.
std::string quoted(std::string_view text, std::string_view apostrophe)
{
    std::string made = "'";
    for (const char each : text) {
        if (each == '\'')
            made += apostrophe;
        else
            made += each;
    }
    return made + "'";
}

std::string quoted(std::string_view text)
{
    return quoted(text, "'\\''");
}

std::string names(const std::vector<described_command>& commands)
{
    std::string all;
    for (const described_command& each : commands)
        all.append(each.name).append(" ");
    return all + "--help --version";
}

/// Escapes the special characters of _arguments with backslashes.
std::string for_arguments(std::string_view text)
{
    std::string made;
    for (const char each : text) {
        if (each == '[' || each == ']' || each == ':' || each == '\\')
            made += '\\';
        made += each;
    }
    return made;
}

bool runs_another(const described_command& of)
{
    return of.usage.find("-- COMMAND") != std::string::npos;
}

} // namespace

std::string first_sentence(std::string_view of)
{
    std::string text;
    for (std::size_t i = 0; i < of.size(); ++i) {
        const bool ends = i + 1 == of.size() || of[i + 1] == ' ' || of[i + 1] == '\n';
        if (of[i] == '.' && ends)
            break;
        text += of[i] == '\n' ? ' ' : of[i];
    }
    return text;
}

std::string make_bash_completions(const std::vector<described_command>& commands)
{
    std::string text = R"(# Completions of leasehold for bash. Made from the program's own options.
_leasehold()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} options valued i
    COMPREPLY=()
    # bash splits words at "=".
    if [ "$word" = = ]; then word=; before=${COMP_WORDS[COMP_CWORD - 1]}
    elif [ "$before" = = ]; then before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W ')";
    text.append(names(commands)).append(R"(' -- "$word")
        return
    fi
    case ${COMP_WORDS[1]} in
)");
    for (const described_command& each : commands) {
        std::string all;
        std::string valued = " ";
        for (const command_line::option& option : each.options) {
            all.append(all.empty() ? "" : " ").append(option.name);
            if (!option.placeholder.empty())
                valued.append(option.name).append(" ");
        }
        text.append("        ").append(each.name).append(") options='").append(all);
        text.append("'\n            valued='").append(valued).append("' ;;\n");
    }
    return text + R"(        *) return ;;
    esac
    for ((i = 2; i < COMP_CWORD; ++i)); do
        [ "${COMP_WORDS[i]}" = -- ] || continue
        # Completes another command.
        if declare -F _command_offset >/dev/null; then _command_offset $((i + 1))
        elif [ "$COMP_CWORD" -eq $((i + 1)) ]; then
            mapfile -t COMPREPLY < <(compgen -c -- "$word")
        else mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
        return
    done
    case $valued in *" $before "*) return ;; esac
    case $word in -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word") ;; esac
}
complete -F _leasehold leasehold
)";
}

std::string make_zsh_completions(const std::vector<described_command>& commands)
{
    std::string text = R"(#compdef leasehold
# Completions of leasehold for zsh. Made from the program's own options.
_leasehold() {
    local curcontext="$curcontext" state line
    _arguments -C '(- *)--help[print a help text]' '(- *)--version[print the version]' \
        '1:command:->command' '*::argument:->argument'
    case $state in
        command)
            local -a commands=(
)";
    for (const described_command& each : commands)
        text.append("                ")
            .append(quoted(each.name + ':' + for_arguments(each.summary)))
            .append("\n");
    text += R"(            )
            _describe -t commands command commands ;;
        argument)
            case $line[1] in
)";
    for (const described_command& each : commands) {
        text.append("                ").append(each.name).append(")\n");
        text += "                    _arguments -S \\\n";
        for (const command_line::option& option : each.options) {
            std::string spec = option.name + (option.placeholder.empty() ? "[" : "=[") +
                               for_arguments(first_sentence(option.help)) + ']';
            if (!option.placeholder.empty())
                spec.append(":").append(option.placeholder).append(": ");
            text.append("                        ").append(quoted(spec)).append(" \\\n");
        }
        text += runs_another(each) ? "                        '*::command:->behind' ;;\n"
                                   : "                        '*:key: ' ;;\n";
    }
    return text + R"(            esac
            # Completes another command after --.
            if [[ $state == behind ]] && (( ${words[(I)--]} && ${words[(I)--]} < CURRENT )); then
                local at=${words[(I)--]}
                words=("${(@)words[at + 1,-1]}")
                (( CURRENT -= at ))
                _normal
            fi ;;
    esac
}
_leasehold "$@"
)";
}

std::string make_fish_completions(const std::vector<described_command>& commands)
{
    const auto text_of = [](std::string_view text) {
        std::string made;
        for (const char each : text)
            made.append(each == '\\' ? "\\" : "").append(1, each);
        return quoted(made, "\\'");
    };
    std::string text =
        "# Completions of leasehold for fish. Made from the program's own options.\n"
        "function __leasehold_runs_another\n"
        "    contains -- -- (commandline -opc)\n"
        "end\n"
        "complete -c leasehold -n 'not __leasehold_runs_another' -f\n"
        "complete -c leasehold -n __fish_use_subcommand -l help -d 'Print a help text'\n"
        "complete -c leasehold -n __fish_use_subcommand -l version -d 'Print the version'\n";
    for (const described_command& each : commands) {
        text.append("complete -c leasehold -n __fish_use_subcommand -a ").append(each.name);
        text.append(" -d ").append(text_of(each.summary)).append("\n");
        for (const command_line::option& option : each.options) {
            text.append("complete -c leasehold -n '__fish_seen_subcommand_from ").append(each.name);
            text.append("; and not __leasehold_runs_another' -l ").append(option.name.substr(2));
            text.append(option.placeholder.empty() ? "" : " -x");
            text.append(" -d ").append(text_of(first_sentence(option.help))).append("\n");
        }
    }
    return text + "complete -c leasehold -n __leasehold_runs_another "
                  "-a '(__fish_complete_subcommand --fcs-skip=(contains -i -- -- "
                  "(commandline -opc)))'\n";
}

} // namespace leasehold::tool
