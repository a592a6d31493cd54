#ifndef LEASEHOLD_EXAMPLE_STOCK_OPTIONS_HPP
#define LEASEHOLD_EXAMPLE_STOCK_OPTIONS_HPP

#include <string>

namespace example {

struct stock_options
{
    std::string url = "redis://127.0.0.1:6379"; ///< Of the stock.
    std::string store;                          ///< Of the locks; empty: the same.
    std::string halfway; ///< A shell command that runs when half of the stock is sold.
    int stock = 500;
    int processes = 4;
    int coroutines = 8;
    int think_ms = 2;
    int lease_ms = 2'000;
    bool unsafe = false;
    bool kill_one = false;
};

/// Runs one of the selling processes. Returns the exit code.
/// @param key     The key of the stock.
/// @param number  The number of this process.
/// @param hang_at Stops during a sale, with the lock, when at most this many units are left. -1:
///                never.
int run_seller(const stock_options& wanted, const std::string& key, int number, int hang_at);

/// Runs the process that starts the sellers, monitors them and counts. Returns the exit code.
int run_shop(const stock_options& wanted, const char* program);

} // namespace example

#endif
