#ifndef LEASEHOLD_SRC_SQL_STORE_REQUEST_HPP
#define LEASEHOLD_SRC_SQL_STORE_REQUEST_HPP

#include "sql/protocol/call.hpp"
#include "sql/protocol/replies.hpp"

#include <leasehold/store.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <variant>

namespace leasehold::sql_store {

struct waiting_acquire
{
    store::acquire_handler handler;
    bool listening = false; ///< The client gets its grant.
    acquire_reply reply{};
};

struct waiting_renew
{
    store::renew_handler handler;
    std::size_t size = 0;
    renew_reply reply{};
};

struct waiting_release
{
    store::release_handler handler;
    bool listening = false;
    release_reply reply{};
};

/// A call that is no request of a store. Gets the first value of the first row; nothing: an error.
struct waiting_other
{
    std::function<void(std::optional<std::string>)> handler;
    std::optional<std::string> value{};
};

/// A call of the store on its way: encoded, sent, answered.
struct request
{
    call made;
    std::string name; ///< Of the lock: the order in a transaction.
    std::variant<waiting_acquire, waiting_renew, waiting_release, waiting_other> waiting;
    bool alone = false;    ///< A transaction of its own.
    unsigned attempts = 0; ///< Failed by other transactions.
};

} // namespace leasehold::sql_store

#endif
