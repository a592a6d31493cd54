// A lock, or a check before the write? Many traders sell the same stock with five methods. Each
// trader reads, computes, and writes. The methods: a lock; WATCH in Redis, and compare and set in
// SQL, where a late trader retries; one script; and the GETSET lock of old articles. First the
// program shows step by step how the last one fails.
#include "optimistic/contest.hpp"
#include "optimistic/interleaving.hpp"
#include "optimistic/method.hpp"
#include "support/arguments.hpp"
#include "support/rethrow.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <exception>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using example::market;

namespace {

/// Runs the coroutine to its end, on this thread.
template <class T>
T run(asio::io_context& context, asio::awaitable<T> what)
{
    T result{};
    asio::co_spawn(context, std::move(what), [&](std::exception_ptr failure, T got) {
        example::rethrow(failure);
        result = std::move(got);
    });
    context.restart();
    context.run();
    return result;
}

std::vector<std::unique_ptr<example::method>> all_methods(asio::io_context& context,
                                                          const std::string& url)
{
    std::vector<std::unique_ptr<example::method>> result;
    result.push_back(example::make_lock_method(context, url));
    result.push_back(example::make_watch_method(context, url));
    if (auto sql = example::make_sql_method(context))
        result.push_back(std::move(sql));
    result.push_back(example::make_script_method(context, url));
    result.push_back(example::make_getset_method(context, url));
    return result;
}

/// @return Whether each method that is correct has sold exactly the stock.
bool print_table(const std::string& url, const market& on)
{
    std::cout
        << "  method                        sold  oversold  conflicts  most retries  sales/s\n";
    bool right = true;
    asio::io_context context(1);
    for (const auto& tried : all_methods(context, url)) {
        const example::verdict got = run(context, example::hold_contest(context, *tried, on));
        const int over = got.sold - on.items * on.stock;
        std::cout << "  " << std::left << std::setw(28) << tried->name() << std::right
                  << std::setw(6) << got.sold << std::setw(10) << over << std::setw(11)
                  << got.conflicts << std::setw(14) << got.most_retries << std::setw(9)
                  << static_cast<int>(got.sold / got.took.count()) << std::endl;
        if (tried->correct() && over != 0)
            right = false;
    }
    return right;
}

} // namespace

int main(int argc, char** argv)
try {
    std::string url = "redis://127.0.0.1:6379";
    int stock = 120;
    int items = 60;
    int traders = 12;
    int think_ms = 2;
    example::arguments line("The same stock sold under a lock, optimistically, and wrongly.");
    line.url(url, example::stores::servers_only);
    line.number("--stock", stock, 1, 100'000, "total number of units");
    line.number("--items", items, 2, 10'000, "items of the second market");
    line.number("--traders", traders, 1, 200, "traders that sell concurrently");
    line.number("--think-ms", think_ms, 0, 1'000, "time between reading and writing");
    line.parse(argc, argv);

    asio::io_context context(1);
    std::cout << "The GETSET lock of old articles, with one unit:\n";
    const int over = run(context, example::break_getset_lock(context, url));
    std::cout << "  units oversold: " << over << "\n\nThe same with a fence:\n";
    const int over_with_fence = run(context, example::keep_by_fence(context, url));
    std::cout << "  units oversold: " << over_with_fence << '\n';

    const std::chrono::milliseconds think(think_ms);
    std::cout << "\nOne item: " << stock << " units, " << traders << " traders, " << think_ms
              << " ms between reading and writing, six times that in each 20th sale\n";
    bool right = print_table(url, market{1, stock, traders, think, 20});
    std::cout << "\n" << items << " items with few conflicts, the same total number of units\n";
    right = print_table(url, market{items, (stock + items - 1) / items, traders, think, 20}) &&
            right;

    std::cout <<
        R"(
Which to choose:
  one script    if the server can compute the result: no waits and no retries
  optimistic    if conflicts are rare and a retry is cheap: no lock to acquire or to lose. With many
                conflicts most work is discarded, and the number of retries has no limit
  lock          if conflicts are frequent, the work is costly or irreversible, more than one place
                is written, or the first to arrive must be served first; with a fence at each place
  GETSET lock   never
)";
    return right && over == 1 && over_with_fence == 0 ? 0 : 1;
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
