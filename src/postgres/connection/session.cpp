#include "postgres/connection/session.hpp"

#include "postgres/config/config_check.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace leasehold::postgres_store {
namespace {

using asio::posix::stream_descriptor;

bool is_directory(const std::string& host)
{
    return host.starts_with('/');
}

/// The parameters of a connection. An empty value is the default of libpq.
class connect_parameters
{
public:
    void add(const char* name, const char* value)
    {
        names_.push_back(name);
        values_.push_back(value);
    }
    [[nodiscard]] pq_connection start()
    {
        add(nullptr, nullptr);
        return pq_connection(PQconnectStartParams(names_.data(), values_.data(), 0));
    }

private:
    std::vector<const char*> names_, values_;
};

} // namespace

void session::open(session_user& user)
{
    user_ = &user;
    error_code not_numeric;
    asio::ip::make_address(at_.host, not_numeric);
    if (!not_numeric || is_directory(at_.host)) {
        addresses_.push_back(at_.host);
        limit(settings_.timeout);
        return asio::post(descriptor_.get_executor(), [self = shared_from_this()] {
            if (self->user_ != nullptr)
                self->connect_next();
        });
    }
    limit(settings_.timeout);
    resolver_.async_resolve(at_.host, std::to_string(at_.port),
                            asio::ip::tcp::resolver::numeric_service,
                            [self = shared_from_this()](error_code failed, const auto& found) {
                                if (self->user_ != nullptr)
                                    self->resolved(failed, found);
                            });
}

void session::resolved(error_code failed, const asio::ip::tcp::resolver::results_type& found)
{
    for (const auto& each : found)
        addresses_.push_back(each.endpoint().address().to_string());
    if (addresses_.empty())
        return fail(here("host not found: " + failed.message()));
    choices_ = addresses_.size();
    connect_next();
}

void session::connect_next()
{
    const std::string address = addresses_.front();
    addresses_.erase(addresses_.begin());
    limit(settings_.timeout / static_cast<int>(choices_));

    const std::string port = std::to_string(at_.port);
    connect_parameters all;
    all.add("host", at_.host.c_str());
    if (!is_directory(at_.host))
        all.add("hostaddr", address.c_str());
    all.add("port", port.c_str());
    all.add("dbname", settings_.database.c_str());
    all.add("user", settings_.user.c_str());
    all.add("password", password_.c_str());
    all.add("application_name", settings_.application_name.c_str());
    all.add("sslmode", name_of(settings_.tls));
    all.add("sslrootcert", settings_.tls_ca_file.c_str());
    all.add("sslcert", settings_.tls_cert_file.c_str());
    all.add("sslkey", settings_.tls_key_file.c_str());
    // These would block, or are done here.
    all.add("gssencmode", "disable");
    all.add("target_session_attrs", "any");
    all.add("keepalives_idle", "5");
    all.add("keepalives_interval", "2");
    all.add("keepalives_count", "3");
    const std::string unsent = std::to_string(settings_.timeout.count());
    all.add("tcp_user_timeout", unsent.c_str());
    connection_ = all.start();
    if (!connection_)
        return fail(here("no memory for a connection"));
    if (PQstatus(connection_.get()) == CONNECTION_BAD)
        return address_failed(here(PQerrorMessage(connection_.get())));
    PQsetNoticeReceiver(
        connection_.get(),
        [](void* self, const PGresult* notice) {
            static_cast<session*>(self)->take_notice(*notice);
        },
        this);
    // With the SQLSTATE, see `trouble_of_login`.
    PQsetErrorVerbosity(connection_.get(), PQERRORS_VERBOSE);
    ++attempt_;
    wait_connecting(stream_descriptor::wait_write);
}

// A new duplicate for each step, because libpq may have opened another socket.
void session::wait_connecting(stream_descriptor::wait_type what)
{
    if (!watch_socket())
        return fail(here("the descriptor of the connection cannot be duplicated"));
    descriptor_.async_wait(what,
                           [self = shared_from_this(), attempt = attempt_](error_code failed) {
                               if (!failed && self->user_ != nullptr && self->attempt_ == attempt)
                                   self->poll_connecting();
                           });
}

bool session::watch_socket()
{
    error_code ignored;
    descriptor_.close(ignored);
    const int copy = ::fcntl(PQsocket(connection_.get()), F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        return false;
    error_code failed;
    descriptor_.assign(copy, failed);
    if (failed)
        ::close(copy);
    return !failed;
}

void session::poll_connecting()
{
    switch (PQconnectPoll(connection_.get())) {
    case PGRES_POLLING_READING: return wait_connecting(stream_descriptor::wait_read);
    case PGRES_POLLING_WRITING: return wait_connecting(stream_descriptor::wait_write);
    case PGRES_POLLING_OK: return opened();
    default: break;
    }
    address_failed(trouble_of_login(PQerrorMessage(connection_.get())));
}

/// An answer of the server ends the attempt; otherwise the next address may be reached.
void session::address_failed(trouble why)
{
    if (!why.from_server.empty() || addresses_.empty())
        return fail(std::move(why));
    earlier_.append(why.from_here).append("; ");
    connect_next();
}

void session::opened()
{
    PQsetErrorVerbosity(connection_.get(), PQERRORS_DEFAULT);
    if (PQsetnonblocking(connection_.get(), 1) != 0 || PQenterPipelineMode(connection_.get()) != 1)
        return fail(here("libpq cannot use the connection"));
    if (!watch_socket())
        return fail(here("the descriptor of the connection cannot be duplicated"));
    open_ = true;
    timer_.cancel();
    password_.clear();
    read_soon();
    user_->on_open();
}

void session::read_soon()
{
    descriptor_.async_wait(stream_descriptor::wait_read,
                           [self = shared_from_this()](error_code failed) {
                               if (!failed && self->user_ != nullptr && self->connection_)
                                   self->on_readable();
                           });
}

void session::on_readable()
{
    const bool worked = PQconsumeInput(connection_.get()) == 1;
    drain();
    if (user_ == nullptr || failing_)
        return;
    if (!worked || PQstatus(connection_.get()) == CONNECTION_BAD)
        return fail(said_ ? *std::exchange(said_, std::nullopt)
                          : here(PQerrorMessage(connection_.get())));
    read_soon();
}

/// Passes on what has arrived. The user may close the session in between.
void session::drain()
{
    const auto self = shared_from_this();
    int ends = 0; // each statement ends with a null
    while (user_ != nullptr && batches_ != 0 && ends < 2 && PQisBusy(connection_.get()) == 0) {
        const pq_result result(PQgetResult(connection_.get()));
        if (!result) {
            ++ends;
            continue;
        }
        ends = 0;
        const ExecStatusType status = PQresultStatus(result.get());
        if (status == PGRES_FATAL_ERROR) {
            trouble why = trouble_of(*result);
            if (why.from_server.empty())
                return; // the connection has ended; the caller reports it
            if (why.fatal) {
                said_ = std::move(why);
                continue; // the end of the connection follows
            }
        }
        if (status == PGRES_PIPELINE_SYNC) {
            if (unreplicated_)
                return fail(*std::exchange(said_, std::nullopt));
            --batches_;
            if (batches_ != 0)
                limit(settings_.timeout);
            else
                timer_.cancel();
        }
        user_->on_result(*result);
    }
    while (user_ != nullptr) {
        PGnotify* const arrived = PQnotifies(connection_.get());
        if (arrived == nullptr)
            return;
        const std::unique_ptr<PGnotify, decltype(&PQfreemem)> frees(arrived, &PQfreemem);
        user_->on_notification(arrived->extra);
    }
}

void session::prepare(const char* name, const std::string& text)
{
    check(PQsendPrepare(connection_.get(), name, text.c_str(), 0, nullptr) == 1);
}

namespace {

/// The arrays that libpq needs.
struct pq_values
{
    explicit pq_values(const parameters& from)
        : values(from.size()), lengths(from.size()), formats(from.size(), 1)
    {
        for (std::size_t i = 0; i < from.size(); ++i) {
            const auto value = from[i];
            values[i] = value ? value->data() : nullptr;
            lengths[i] = value ? static_cast<int>(value->size()) : 0;
        }
    }
    std::vector<const char*> values;
    std::vector<int> lengths, formats;
};

} // namespace

void session::execute(const std::string& text, const parameters& values)
{
    const pq_values raw(values);
    check(PQsendQueryParams(connection_.get(), text.c_str(), static_cast<int>(values.size()),
                            nullptr, raw.values.data(), raw.lengths.data(), raw.formats.data(),
                            1) == 1);
}

void session::execute_prepared(const char* name, const parameters& values)
{
    const pq_values raw(values);
    check(PQsendQueryPrepared(connection_.get(), name, static_cast<int>(values.size()),
                              raw.values.data(), raw.lengths.data(), raw.formats.data(), 1) == 1);
}

void session::finish_batch()
{
    sent_all_ = false;
    if (batches_++ == 0)
        limit(settings_.timeout);
    check(PQpipelineSync(connection_.get()) == 1);
    flush();
}

void session::flush()
{
    if (writing_ || failing_)
        return;
    const int left = PQflush(connection_.get());
    if (left < 0)
        return check(false);
    sent_all_ = left == 0;
    if (sent_all_)
        return;
    writing_ = true;
    descriptor_.async_wait(stream_descriptor::wait_write,
                           [self = shared_from_this()](error_code failed) {
                               self->writing_ = false;
                               if (!failed && self->user_ != nullptr && self->connection_)
                                   self->flush();
                           });
}

void session::say_last(const char* text) noexcept
{
    if (!open_ || !connection_ || failing_)
        return;
    if (PQsendQueryParams(connection_.get(), text, 0, nullptr, nullptr, nullptr, nullptr, 1) == 1 &&
        PQpipelineSync(connection_.get()) == 1)
        PQflush(connection_.get());
}

/// A call of libpq failed: the connection has ended, or there is no memory.
void session::check(bool worked)
{
    if (worked || std::exchange(failing_, true))
        return;
    asio::post(descriptor_.get_executor(), [self = shared_from_this()] {
        if (self->user_ == nullptr)
            return;
        self->failing_ = false;
        // The server may have sent the reason before it closed the connection.
        PQconsumeInput(self->connection_.get());
        self->drain();
        if (self->user_ != nullptr)
            self->fail(self->said_ ? *std::exchange(self->said_, std::nullopt)
                                   : self->here(PQerrorMessage(self->connection_.get())));
    });
}

void session::fail(trouble why)
{
    const auto self = shared_from_this();
    if (!earlier_.empty())
        why.from_here.insert(0, earlier_);
    session_user* const last = std::exchange(user_, nullptr);
    close();
    if (last != nullptr)
        last->on_closed(why);
}

void session::close() noexcept
{
    user_ = nullptr;
    open_ = false;
    resolver_.cancel();
    timer_.cancel();
    connection_.reset();
    error_code ignored;
    descriptor_.close(ignored);
}

void session::abandon() noexcept
{
    // libpq says good-bye to the server, which would end the session of the parent.
    if (connection_) {
        if (const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC); nowhere >= 0) {
            ::dup3(nowhere, PQsocket(connection_.get()), O_CLOEXEC);
            ::close(nowhere);
        }
    }
    close();
}

void session::limit(duration time)
{
    timer_.expires_after(time);
    timer_.async_wait([weak = weak_from_this()](error_code failed) {
        const auto self = weak.lock();
        if (!failed && self && self->user_ != nullptr &&
            self->timer_.expiry() <= std::chrono::steady_clock::now())
            self->on_limit();
    });
}

void session::on_limit()
{
    if (open_) {
        if (batches_ != 0)
            fail(here("no reply within " + std::to_string(settings_.timeout.count()) + " ms"));
        return;
    }
    address_failed(here(connection_ ? "no connection in time" : "host not found in time"));
}

/// The failure of a connection, with the server's reason if it sent one.
trouble session::here(std::string text) const
{
    if (said_)
        return *said_;
    trouble why;
    why.code = errc::store_unavailable;
    why.from_here = one_line(text);
    return why;
}

/// A message that answers no statement: the server ends the session. Or it warns that it does not
/// wait for its standbys any more, because a user has cancelled that. Then the transaction is
/// committed there, but a standby that takes over may not have it.
void session::take_notice(const PGresult& notice) noexcept
try {
    trouble known = trouble_of(notice);
    const bool warns = batches_ != 0 && is_warning(notice);
    if (known.fatal || warns)
        said_ = std::move(known);
    unreplicated_ = unreplicated_ || warns;
}
catch (const std::bad_alloc&) {
}

} // namespace leasehold::postgres_store
