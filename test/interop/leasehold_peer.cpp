// A peer of the interoperation tests: this library, at the store of a URL. See interop/peer.hpp.
#include "support/client_thread.hpp"

#ifdef LEASEHOLD_HAS_ETCD
#include <leasehold/etcd.hpp>
#endif
#ifdef LEASEHOLD_HAS_ZOOKEEPER
#include <leasehold/zookeeper.hpp>
#endif

#include <chrono>
#include <cstddef>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

class locks
{
public:
    explicit locks(const char* url) : client_(make_store(url)) {}

    std::string lock(const std::string& name, milliseconds lease_time, milliseconds wait)
    {
        lock_options options;
        options.lease_time = lease_time;
        options.wait_limit = wait;
        taken got = get(client_.start_lock(name, options), wait + 30s);
        if (got.code == condition::busy)
            return "busy";
        if (got.code)
            return got.code.message();
        held_[name] = std::move(got.held);
        return "locked";
    }

    std::string unlock(const std::string& name)
    {
        lease held = std::move(held_.at(name));
        held_.erase(name);
        return client_.release(std::move(held)) ? "lost" : "unlocked";
    }

    std::string count(const std::string& name, const std::string& counter, int times)
    {
        for (; times > 0; --times) {
            if (const std::string got = lock(name, 60s, 60s); got != "locked")
                return got;
            int value = 0;
            std::ifstream(counter) >> value;
            std::this_thread::sleep_for(1ms);
            std::ofstream(counter) << value + 1;
            if (const std::string got = unlock(name); got != "unlocked")
                return got;
        }
        return "counted";
    }

private:
    client_thread client_;
    std::map<std::string, lease> held_;
};

std::string from_hex(const std::string& digits)
{
    std::string result;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
        result += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
    return result;
}

std::string answer(locks& ours, const std::string& line)
{
    std::istringstream words(line);
    std::string verb;
    std::string name;
    words >> verb >> name;
    name = from_hex(name);
    if (verb == "unlock")
        return ours.unlock(name);
    if (verb == "lock") {
        int lease_time = 0;
        int wait = 0;
        words >> lease_time >> wait;
        return ours.lock(name, milliseconds(lease_time), milliseconds(wait));
    }
    if (verb == "count") {
        std::string counter;
        int times = 0;
        words >> counter >> times;
        return ours.count(name, counter, times);
    }
    throw std::invalid_argument(line);
}

} // namespace

int main(int count, char** words)
{
    if (count != 2)
        return 2;
    locks ours(words[1]);
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line);)
        std::cout << answer(ours, line) << std::endl;
}
