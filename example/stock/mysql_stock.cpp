#include "stock/stock_data.hpp"

#include <leasehold/mysql.hpp>

#include <boost/mysql/any_connection.hpp>
#include <boost/mysql/connect_params.hpp>
#include <boost/mysql/results.hpp>
#include <boost/mysql/with_params.hpp>

#include <utility>

namespace asio = boost::asio;
namespace mysql = boost::mysql;

namespace example {
namespace {

/// The schema of the locks as one query: the lines with `delimiter` are for the program `mysql`.
std::string schema_query()
{
    std::string text = leasehold::mysql_schema();
    const auto replace = [&text](const std::string& from, const std::string& to) {
        for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at))
            text.replace(at, from.size(), to);
    };
    replace("delimiter $$\n", "");
    replace("delimiter ;\n", "");
    replace("$$", ";");
    return text;
}

/// Two tables.
class mysql_stock final : public stock_data
{
public:
    mysql_stock(asio::io_context& context, const std::string& url, std::string key)
        : context_(context), key_(std::move(key))
    {
        const leasehold::mysql_config where(url);
        const leasehold::mysql_config::address& at = where.addresses.front();
        if (at.host.starts_with('/'))
            target_.server_address.emplace_unix_path(at.host);
        else
            target_.server_address.emplace_host_and_port(at.host, at.port);
        target_.username = where.user;
        target_.password = where.password;
        target_.database = where.database;
        target_.multi_queries = true;
    }

    asio::awaitable<void> connect() override { idle_.push_back(co_await new_connection()); }

    asio::awaitable<void> open(int stock) override
    {
        connection to = co_await take();
        mysql::results made;
        co_await to->async_execute(schema_query() + R"(
            create table if not exists example_stock (
                name varchar(200) primary key, units int not null, fence bigint not null);
            create table if not exists example_sold (
                name varchar(200), seller int, units int not null, primary key (name, seller)))",
                                   made);
        idle_.push_back(std::move(to));
        co_await ask("insert into example_stock values ({}, {}, 0)", key_, stock);
    }

    asio::awaitable<int> left() override
    {
        co_return co_await ask("select units from example_stock where name = {}", key_);
    }

    asio::awaitable<bool> sell(int left, int seller, std::uint64_t fence) override
    {
        co_return co_await ask("start transaction;"
                               "update example_stock set units = {1}, fence = {3}"
                               " where name = {0} and fence <= {3};"
                               "set @written = row_count();"
                               "insert into example_sold"
                               " select name, {2}, 1 from example_stock"
                               " where name = {0} and @written = 1"
                               " on duplicate key update units = example_sold.units + 1;"
                               "commit;"
                               "select @written",
                               key_, left, seller, fence) == 1;
    }

    asio::awaitable<std::vector<int>> sold(int sellers) override
    {
        std::vector<int> all;
        for (int seller = 1; seller <= sellers; ++seller)
            all.push_back(co_await ask(
                "select units from example_sold where name = {} and seller = {}", key_, seller));
        co_return all;
    }

    asio::awaitable<void> remove() override
    {
        co_await ask("delete from example_stock where name = {}", key_);
        co_await ask("delete from example_sold where name = {}", key_);
    }

    void close() override { idle_.clear(); }

private:
    using connection = std::unique_ptr<mysql::any_connection>;

    /// Returns the number in the first row of the last statement; 0: there is none.
    template <class... Argument>
    asio::awaitable<int> ask(mysql::constant_string_view text, const Argument&... arguments)
    {
        connection to = co_await take();
        mysql::results found;
        co_await to->async_execute(mysql::with_params(text, arguments...), found);
        idle_.push_back(std::move(to));
        const mysql::resultset_view last = found.at(found.size() - 1);
        co_return last.rows().empty() ? 0 : static_cast<int>(last.rows()[0][0].as_int64());
    }

    asio::awaitable<connection> new_connection()
    {
        connection made = std::make_unique<mysql::any_connection>(context_);
        co_await made->async_connect(target_);
        co_return made;
    }

    /// A connection executes one statement at a time.
    asio::awaitable<connection> take()
    {
        if (idle_.empty())
            co_return co_await new_connection();
        connection last = std::move(idle_.back());
        idle_.pop_back();
        co_return last;
    }

    asio::io_context& context_;
    const std::string key_;
    mysql::connect_params target_;
    std::vector<connection> idle_;
};

} // namespace

std::unique_ptr<stock_data> make_mysql_stock(asio::io_context& context, const std::string& url,
                                             std::string key)
{
    return std::make_unique<mysql_stock>(context, url, std::move(key));
}

} // namespace example
