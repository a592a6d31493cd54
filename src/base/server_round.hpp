#ifndef LEASEHOLD_SRC_BASE_SERVER_ROUND_HPP
#define LEASEHOLD_SRC_BASE_SERVER_ROUND_HPP

#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace leasehold::detail {

/// A round of attempts to connect, one at each server of a list. It collects why they failed.
class server_round
{
public:
    /// An attempt failed.
    /// @param from_server The text of the server. Empty: the reason is `from_here`.
    void failed(const std::string& server, error_code code, const std::string& from_server,
                const std::string& from_here)
    {
        const std::string& text = from_server.empty() ? from_here : from_server;
        texts_.append(texts_.empty() ? "" : "; ").append(server).append(": ").append(text);
        if (tried_++ != 0 && weight(code) <= weight(code_))
            return;
        code_ = code;
        details_.server = server;
        details_.server_message = from_server;
        details_.connection_error = from_here;
    }

    /// The number of attempts that failed.
    [[nodiscard]] std::size_t tried() const noexcept { return tried_; }

    /// Ends the round. Returns the most important failure, with the texts of all.
    std::pair<error_code, diagnostics> end()
    {
        if (tried_ > 1)
            details_.connection_error = std::move(texts_);
        std::pair result(code_, std::move(details_));
        *this = {};
        return result;
    }

private:
    /// The more important failure explains why no server can be used.
    static int weight(error_code code) noexcept
    {
        if (code == condition::bad_request)
            return 2;
        return code == errc::store_refused ? 1 : 0;
    }

    std::size_t tried_ = 0;
    error_code code_; ///< Of the most important failure.
    diagnostics details_;
    std::string texts_; ///< Of all failures, with their servers.
};

} // namespace leasehold::detail

#endif
