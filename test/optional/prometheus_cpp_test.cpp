// The header for prometheus-cpp, and the page that prometheus-cpp writes with it.
#include <boost/test/unit_test.hpp>

#include "metrics/every_event.hpp"

#include <leasehold/extras/prometheus_cpp.hpp>

#include <prometheus/text_serializer.h>

#include <memory>
#include <string>

using namespace leasehold;

BOOST_AUTO_TEST_CASE(prometheus_cpp_writes_the_counted_values)
{
    const auto counted = std::make_shared<metrics>();
    test::notify_every_event(*counted);
    const prometheus_cpp_metrics shown(counted);
    const std::string page = prometheus::TextSerializer().Serialize(shown.Collect());
    for (const char* const each :
         {"# TYPE leasehold_contended_total counter\n",
          "leasehold_lost_total{lock=\"order\",reason=\"expired\"} 1\n",
          "# TYPE leasehold_held gauge\n", "leasehold_held{lock=\"order\"} 0\n",
          "# TYPE leasehold_wait_seconds histogram\n",
          "leasehold_wait_seconds_bucket{lock=\"order\",le=\"+Inf\"} 2\n",
          "leasehold_wait_seconds_count{lock=\"order\"} 2\n"})
        BOOST_TEST(page.find(each) != page.npos, each << " in\n" << page);
    BOOST_TEST(shown.Collect().size() == counted->collect().size());
}
