#include "stock/stock_data.hpp"

#include <stdexcept>

namespace example {

std::unique_ptr<stock_data> make_mysql_stock(boost::asio::io_context&, const std::string&,
                                             std::string)
{
    throw std::runtime_error("this example was built without MySQL (LEASEHOLD_MYSQL)");
}

} // namespace example
