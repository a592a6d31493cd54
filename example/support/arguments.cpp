#include "support/arguments.hpp"

#include <leasehold/make_store.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <stdexcept>
#include <utility>

namespace example {
namespace {

void check_url(std::string_view text, stores allowed)
{
    try {
        static_cast<void>(leasehold::make_store(text));
        const bool is_redis = text.starts_with("redis://") || text.starts_with("unix://");
        if (allowed == stores::any || is_redis ||
            (allowed == stores::redis_or_database &&
             (text.starts_with("postgres://") || text.starts_with("mysql://") ||
              text.starts_with("mariadb://") || text.starts_with("zookeeper://") ||
              text.starts_with("etcd://"))))
            return;
        throw std::invalid_argument(
            std::string("this example needs a server for a connection of its own; allowed: "
                        "redis://[user:password@]host[:port][/db], "
                        "unix:///path/to/socket[?db=n]") +
            (allowed == stores::servers_only ? ""
                                             : ", postgres://[user:password@]host[:port]/db, "
                                               "mysql://[user:password@]host[:port]/db, "
                                               "zookeeper://host[:port][/root], "
                                               "etcd://host[:port][/root]"));
    }
    catch (const boost::system::system_error& wrong) {
        throw std::invalid_argument(wrong.what());
    }
}

void set_number(std::string_view text, int& value, int least, int most)
{
    int read = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, read);
    if (error != std::errc() || stop != end || read < least || read > most)
        throw std::invalid_argument("\"" + std::string(text) + "\" given; allowed: " +
                                    std::to_string(least) + " to " + std::to_string(most));
    value = read;
}

} // namespace

void refuse(std::string_view what)
{
    std::cerr << "error: " << what << '\n';
    std::exit(2);
}

arguments::arguments(std::string about) : about_(std::move(about)) {}

void arguments::url(std::string& value, stores allowed)
{
    if (const char* const set = std::getenv("LEASEHOLD_URL"); set != nullptr && *set != '\0') {
        value = set;
        try {
            check_url(value, allowed);
        }
        catch (const std::invalid_argument& wrong) {
            refuse(std::string("LEASEHOLD_URL: ") + wrong.what());
        }
    }
    options_.push_back(
        {"--url", "URL",
         allowed == stores::any
             ? "store of the locks; default: $LEASEHOLD_URL, else memory:"
             : "store of the locks; default: $LEASEHOLD_URL, else redis://127.0.0.1:6379",
         [&value, allowed](std::string_view text) {
             check_url(text, allowed);
             value = text;
         }});
}

void arguments::store(std::string& value)
{
    if (const char* const set = std::getenv("LEASEHOLD_STORE"); set != nullptr && *set != '\0')
        value = set;
    options_.push_back({"--store", "URL",
                        "store of the locks; default: $LEASEHOLD_STORE, else as --url",
                        [&value](std::string_view text) {
                            check_url(text, stores::any);
                            value = text;
                        }});
}

void arguments::text(std::string name, std::string placeholder, std::string& value,
                     std::string help)
{
    options_.push_back({std::move(name), std::move(placeholder), std::move(help),
                        [&value](std::string_view text) { value = text; }});
}

void arguments::number(std::string name, int& value, int least, int most, std::string help)
{
    help += "; default: " + std::to_string(value);
    options_.push_back(
        {std::move(name), "N", std::move(help),
         [&value, least, most](std::string_view text) { set_number(text, value, least, most); }});
}

void arguments::flag(std::string name, bool& value, std::string help)
{
    options_.push_back(
        {std::move(name), "", std::move(help), [&value](std::string_view) { value = true; }});
}

void arguments::hidden(std::string name, std::string& value)
{
    options_.push_back(
        {std::move(name), "TEXT", "", [&value](std::string_view text) { value = text; }});
}

void arguments::parse(int argc, char** argv) const
{
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--help" || word == "-h") {
            print_help(argv[0]);
            std::exit(0);
        }
        const std::string_view name = word.substr(0, word.find('='));
        const auto found = std::find_if(options_.begin(), options_.end(),
                                        [&](const option& o) { return o.name == name; });
        if (found == options_.end())
            refuse("unknown argument \"" + std::string(word) + "\"; allowed: " + names());
        std::string_view value;
        if (name.size() < word.size()) {
            if (found->placeholder.empty())
                refuse(found->name + " takes no value");
            value = word.substr(name.size() + 1);
        }
        else if (!found->placeholder.empty()) {
            if (++i == argc)
                refuse(found->name + " needs a value: " + found->name + ' ' + found->placeholder);
            value = argv[i];
        }
        try {
            found->set(value);
        }
        catch (const std::invalid_argument& wrong) {
            refuse(found->name + ": " + wrong.what());
        }
    }
}

void arguments::print_help(std::string_view program) const
{
    std::cout << "usage: " << program.substr(program.rfind('/') + 1) << " [OPTION...]\n\n"
              << about_ << "\n\n";
    for (const option& o : options_) {
        if (!o.help.empty())
            std::cout << "  " << std::left << std::setw(18) << o.name + ' ' + o.placeholder
                      << o.help << '\n';
    }
    std::cout << "  " << std::left << std::setw(18) << "--help"
              << "this text\n";
}

std::string arguments::names() const
{
    std::string all;
    for (const option& o : options_) {
        if (!o.help.empty())
            all += o.name + ", ";
    }
    return all + "--help";
}

} // namespace example
