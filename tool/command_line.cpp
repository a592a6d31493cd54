#include "command_line.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace leasehold::tool {

bool asks_for(std::string_view word, std::string_view flag)
{
    if (word.starts_with(flag) && word.substr(flag.size()).starts_with('='))
        throw usage_error(std::string(flag) + " takes no value");
    return word == flag;
}

command_line::command_line(std::string usage, std::string about)
    : usage_(std::move(usage)), about_(std::move(about))
{}

void command_line::flag(std::string name, std::string help, bool& found)
{
    options_.push_back(
        {{std::move(name), {}, std::move(help)}, [&found](std::string_view) { found = true; }});
}

void command_line::value(std::string name, std::string placeholder, std::string help, reader read)
{
    options_.push_back(
        {{std::move(name), std::move(placeholder), std::move(help)}, std::move(read)});
}

std::vector<command_line::option> command_line::options() const
{
    std::vector<option> all(options_.begin(), options_.end());
    all.push_back({"--help", {}, "Print this text."});
    return all;
}

const command_line::read_option& command_line::find(std::string_view name) const
{
    std::string all;
    for (const read_option& each : options_) {
        if (each.name == name)
            return each;
        all.append(each.name).append(", ");
    }
    throw usage_error(
        std::string("unknown option '").append(name).append("'; allowed: ").append(all + "--help"));
}

command_line::words command_line::read(const std::vector<std::string>& given) const
{
    words found;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const std::string& word = given[i];
        if (word == "--") {
            found.command.assign(given.begin() + static_cast<std::ptrdiff_t>(i) + 1, given.end());
            break;
        }
        if (asks_for(word, "--help") || asks_for(word, "-h")) {
            found.asks_for_help = true;
            return found;
        }
        if (!word.starts_with('-') || word == "-") {
            found.arguments.push_back(word);
            continue;
        }
        const std::size_t equals = word.find('=');
        const read_option& known = find(std::string_view(word).substr(0, equals));
        try {
            if (known.placeholder.empty()) {
                if (equals != std::string::npos)
                    throw usage_error("takes no value");
                known.read({});
            }
            else if (equals != std::string::npos)
                known.read(std::string_view(word).substr(equals + 1));
            else if (i + 1 == given.size())
                throw usage_error("needs a value: " + known.placeholder);
            else
                known.read(given[++i]);
        }
        catch (const usage_error& wrong) {
            throw usage_error(known.name + " " + wrong.what());
        }
    }
    return found;
}

std::string command_line::help() const
{
    const auto heading = [](const option& each) {
        return each.placeholder.empty() ? each.name : each.name + " " + each.placeholder;
    };
    const std::vector<option> all = options();
    std::size_t width = 0;
    for (const option& each : all)
        width = std::max(width, heading(each).size());

    std::string text = "usage: leasehold " + usage_ + "\n\n" + about_ + "\n";
    const auto line = [&](std::string left, std::string_view right) {
        for (bool first = true; first || !right.empty(); first = false) {
            const std::size_t end = std::min(right.find('\n'), right.size());
            left.resize(width, ' ');
            text.append("  ").append(left).append("  ").append(right.substr(0, end)).append("\n");
            right.remove_prefix(std::min(end + 1, right.size()));
            left.clear();
        }
    };
    for (const option& each : all)
        line(heading(each), each.help);
    if (!notes_.empty())
        text.append("\n").append(notes_);
    return text;
}

} // namespace leasehold::tool
