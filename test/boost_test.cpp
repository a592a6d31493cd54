// The main function of all test programs; compiled once, because it is what takes longest.
#define BOOST_TEST_MODULE leasehold
#include <boost/test/included/unit_test.hpp>
