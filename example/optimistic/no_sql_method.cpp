#include "optimistic/method.hpp"

namespace example {

/// For builds without SQLite.
std::unique_ptr<method> make_sql_method(boost::asio::io_context&)
{
    return {};
}

} // namespace example
