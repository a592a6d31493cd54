// The main function of all test programs. It is compiled only once, because its compilation takes
// longest.
#define BOOST_TEST_MODULE leasehold
#include <boost/test/included/unit_test.hpp>
