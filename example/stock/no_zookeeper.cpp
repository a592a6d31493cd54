#include "stock/stock_data.hpp"

#include <stdexcept>

namespace example {

std::unique_ptr<stock_data> make_zookeeper_stock(boost::asio::io_context&, const std::string&,
                                                 std::string)
{
    throw std::runtime_error("this example was built without ZooKeeper (LEASEHOLD_ZOOKEEPER), or "
                             "without its client for C (libzookeeper-mt-dev)");
}

} // namespace example
