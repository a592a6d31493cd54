#include "stock/stock_data.hpp"

#include <stdexcept>

namespace example {

std::unique_ptr<stock_data> make_etcd_stock(boost::asio::io_context&, const std::string&,
                                            std::string)
{
    throw std::runtime_error("this example was built without etcd (LEASEHOLD_ETCD)");
}

} // namespace example
