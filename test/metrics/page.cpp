// Prints a page on which every family has a sample, for readers of the format.
#include "metrics/every_event.hpp"

#include <leasehold/extras/metrics.hpp>

#include <iostream>

int main()
{
    leasehold::metrics counted;
    leasehold::test::notify_every_event(counted);
    std::cout << counted.text();
}
