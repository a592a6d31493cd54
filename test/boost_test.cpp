// The main function of the test programs that consist of several files; compiled once, because it is what takes longest.
#define BOOST_TEST_MODULE leasehold
#include <boost/test/included/unit_test.hpp>
