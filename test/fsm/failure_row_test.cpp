#include <boost/test/unit_test.hpp>

#include "fsm/contention/failure_row.hpp"

using leasehold::fsm::failure_row;

BOOST_AUTO_TEST_SUITE(failure_row_fsm)

BOOST_AUTO_TEST_CASE(failures_after_the_first_are_repeated_until_the_store_serves)
{
    failure_row row;
    for (int i = 0; i < 3; ++i) {
        BOOST_TEST(!row.repeated());
        BOOST_TEST(!row.failed());
        BOOST_TEST(!row.repeated());
        for (int again = 0; again < 300; ++again) {
            BOOST_TEST(row.failed());
            BOOST_TEST(row.repeated());
        }
        row.served();
    }
    row.served();
    BOOST_TEST(!row.repeated());
}

BOOST_AUTO_TEST_SUITE_END()
