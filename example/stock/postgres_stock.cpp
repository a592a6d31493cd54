#include "stock/stock_data.hpp"

#include <leasehold/postgres.hpp>

#include <boost/asio/posix/stream_descriptor.hpp>

#include <libpq-fe.h>

#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace asio = boost::asio;

namespace example {
namespace {

struct deleter
{
    void operator()(PGconn* connection) const { PQfinish(connection); }
    void operator()(PGresult* result) const { PQclear(result); }
};
using connection = std::unique_ptr<PGconn, deleter>;
using result = std::unique_ptr<PGresult, deleter>;

/// Two tables.
class postgres_stock final : public stock_data
{
public:
    postgres_stock(asio::io_context& context, std::string url, std::string key)
        : context_(context), url_(std::move(url)), key_(std::move(key))
    {}

    asio::awaitable<void> connect() override
    {
        idle_.push_back(new_connection());
        co_return;
    }

    asio::awaitable<void> open(int stock) override
    {
        const result made(PQexec(idle_.back().get(), (leasehold::postgres_schema() + R"(
            create table if not exists example_stock (
                key text primary key, units int not null, fence bigint not null);
            create table if not exists example_sold (
                key text, seller int, units int not null, primary key (key, seller));)")
                                                         .c_str()));
        check(*made, PGRES_COMMAND_OK);
        co_await ask("insert into example_stock values ($1, $2, 0)", with(key_, stock));
    }

    asio::awaitable<int> left() override
    {
        co_return co_await ask("select units from example_stock where key = $1", with(key_));
    }

    asio::awaitable<bool> sell(int left, int seller, std::uint64_t fence) override
    {
        const int sold = co_await ask(
            R"(with sale as (update example_stock set units = $2::int, fence = $3::bigint
                            where key = $1 and fence <= $3::bigint returning 1)
               insert into example_sold as s select $1, $4::int, 1 from sale
               on conflict (key, seller) do update set units = s.units + 1 returning 1)",
            with(key_, left, fence, seller));
        co_return sold == 1;
    }

    asio::awaitable<std::vector<int>> sold(int sellers) override
    {
        std::vector<int> all;
        for (int seller = 1; seller <= sellers; ++seller)
            all.push_back(
                co_await ask("select units from example_sold where key = $1 and seller = $2::int",
                             with(key_, seller)));
        co_return all;
    }

    asio::awaitable<void> remove() override
    {
        for (const char* const table : {"example_stock", "example_sold"})
            co_await ask(std::string("delete from ") + table + " where key = $1", with(key_));
    }

    void close() override { idle_.clear(); }

private:
    /// The parameters of a statement.
    template <class... Number>
    static std::vector<std::string> with(const std::string& key, Number... more)
    {
        return {key, std::to_string(more)...};
    }

    /// Sends a statement without blocking the thread. Returns the number in its first row; 0: there
    /// is none.
    asio::awaitable<int> ask(std::string text, std::vector<std::string> parameters)
    {
        connection to = take();
        std::vector<const char*> values;
        for (const std::string& each : parameters)
            values.push_back(each.c_str());
        if (PQsendQueryParams(to.get(), text.c_str(), static_cast<int>(values.size()), nullptr,
                              values.data(), nullptr, nullptr, 0) != 1)
            throw std::runtime_error(PQerrorMessage(to.get()));
        asio::posix::stream_descriptor socket(context_, ::dup(PQsocket(to.get())));
        while (PQisBusy(to.get()) != 0) {
            co_await socket.async_wait(asio::posix::stream_descriptor::wait_read);
            if (PQconsumeInput(to.get()) != 1)
                throw std::runtime_error(PQerrorMessage(to.get()));
        }
        const result found(PQgetResult(to.get()));
        check(*found, PGRES_TUPLES_OK);
        const result end(PQgetResult(to.get())); // null, and the connection is free
        const int number = PQntuples(found.get()) == 0 || PQnfields(found.get()) == 0
                               ? 0
                               : std::atoi(PQgetvalue(found.get(), 0, 0));
        idle_.push_back(std::move(to));
        co_return number;
    }

    static void check(const PGresult& of, ExecStatusType expected)
    {
        const ExecStatusType status = PQresultStatus(&of);
        if (status != expected && status != PGRES_COMMAND_OK)
            throw std::runtime_error(PQresultErrorMessage(&of));
    }

    [[nodiscard]] connection new_connection() const
    {
        connection made(PQconnectdb(url_.c_str()));
        if (PQstatus(made.get()) != CONNECTION_OK)
            throw std::runtime_error(PQerrorMessage(made.get()));
        return made;
    }

    /// A connection executes one statement at a time.
    connection take()
    {
        if (idle_.empty())
            return new_connection();
        connection last = std::move(idle_.back());
        idle_.pop_back();
        return last;
    }

    asio::io_context& context_;
    const std::string url_;
    const std::string key_;
    std::vector<connection> idle_;
};

} // namespace

std::unique_ptr<stock_data> make_postgres_stock(asio::io_context& context, const std::string& url,
                                                std::string key)
{
    return std::make_unique<postgres_stock>(context, url, std::move(key));
}

} // namespace example
