#include "chaos/progress.hpp"

#include <unistd.h>

#include <iostream>

namespace leasehold::test::chaos {

using namespace std::chrono_literals;

progress::progress() : terminal_(::isatty(STDOUT_FILENO) != 0) {}

void progress::say(const std::function<std::string()>& text)
{
    const auto now = steady::now();
    if (now - said_ < (terminal_ ? 1s : 10s))
        return;
    said_ = now;
    if (terminal_) {
        std::cout << "\r\x1b[K" << text() << std::flush;
        open_ = true;
    }
    else {
        std::cout << text() << std::endl;
    }
}

void progress::end_line()
{
    if (open_)
        std::cout << "\r\x1b[K" << std::flush;
    open_ = false;
}

} // namespace leasehold::test::chaos
