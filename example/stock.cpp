// A stock in Redis, a database, ZooKeeper or etcd, sold by many coroutines of many processes. Each
// reads the stock, checks it, waits, and writes back one unit less. Under the lock exactly the
// stock is sold, even if a process is killed during a sale. `--unsafe` shows the same without the
// lock. stock/seller.cpp makes the sales.
#include "stock/options.hpp"
#include "support/arguments.hpp"

#include <exception>
#include <iostream>
#include <string>

int main(int argc, char** argv)
try {
    example::stock_options wanted;
    std::string worker;
    std::string key;
    std::string hang_at = "-1";

    example::arguments line("Sells a stock in Redis, a database, ZooKeeper or etcd from many "
                            "processes, under a lock, and counts the sold units.");
    line.url(wanted.url, example::stores::redis_or_database);
    line.store(wanted.store);
    line.number("--stock", wanted.stock, 1, 1'000'000, "units to sell");
    line.number("--processes", wanted.processes, 1, 64, "processes that sell");
    line.number("--coroutines", wanted.coroutines, 1, 1'000,
                "coroutines that sell in each process");
    line.number("--think-ms", wanted.think_ms, 0, 10'000,
                "pause between reading and writing the stock");
    line.number("--lease-ms", wanted.lease_ms, 100, 600'000, "lease time of the lock");
    line.flag("--unsafe", wanted.unsafe, "the same without the lock");
    line.flag("--kill-one", wanted.kill_one, "kill one process while it holds the lock");
    line.text("--halfway", "COMMAND", wanted.halfway,
              "shell command that runs when half of the stock is sold");
    line.hidden("--worker", worker);
    line.hidden("--key", key);
    line.hidden("--hang-at", hang_at);
    line.parse(argc, argv);
    if (wanted.kill_one && wanted.unsafe)
        example::refuse(
            "--kill-one and --unsafe exclude each other: without the lock there is no holder");
    if (wanted.kill_one && wanted.processes == 1)
        example::refuse("--kill-one needs --processes 2 or more: another process must continue");

    if (!worker.empty())
        return example::run_seller(wanted, key, std::stoi(worker), std::stoi(hang_at));
    return example::run_shop(wanted, argv[0]);
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
