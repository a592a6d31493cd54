#include <leasehold/testing/timer.hpp>

#include "core/async/operation.hpp"
#include "testing/time/host_state.hpp"

#include <boost/intrusive/list.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <utility>

namespace leasehold::testing {
namespace impl {

/// The waits of one timer, each kept by the list.
class timer_state final : public local_alarm, public std::enable_shared_from_this<timer_state>
{
    struct wait : boost::intrusive_ref_counter<wait>,
                  boost::intrusive::list_base_hook<
                      boost::intrusive::link_mode<boost::intrusive::auto_unlink>>
    {
        explicit wait(leasehold::detail::bound_handler<void(error_code)>&& handler)
            : done(std::move(handler))
        {}

        leasehold::detail::completion<error_code> done;
    };

public:
    explicit timer_state(host& on) noexcept : local_alarm(true), host_(on.state()) {}
    ~timer_state() { drop_all(); }

    void set(clock::time_point when)
    {
        complete(asio::error::operation_aborted);
        when_ = when;
    }

    void start(leasehold::detail::bound_handler<void(error_code)>&& handler)
    {
        const boost::intrusive_ptr<wait> one(new wait(std::move(handler)));
        if (auto& slot = one->done.slot(); slot.is_connected()) {
            slot.assign([one](asio::cancellation_type type) {
                if (type == asio::cancellation_type::none || !one->is_linked())
                    return;
                const boost::intrusive_ptr<wait> last(one.get(), false);
                one->unlink();
                one->done(asio::error::operation_aborted);
            });
        }
        waits_.push_back(*one);
        intrusive_ptr_add_ref(one.get());
        arm(host_, when_);
    }

    void complete(error_code outcome)
    {
        disarm();
        while (!waits_.empty()) {
            const boost::intrusive_ptr<wait> last(&waits_.front(), false);
            waits_.pop_front();
            if (last->done.pending())
                last->done(outcome);
        }
    }

    [[nodiscard]] host_state& where() const noexcept { return host_; }

private:
    void due() override
    {
        // On the host, so that a stopped process sees nothing.
        for (auto i = waits_.begin(); i != waits_.end();) {
            wait& each = *i++;
            const boost::intrusive_ptr<wait> last(&each, false);
            each.unlink();
            each.done(error_code());
        }
    }

    void drop() noexcept override
    {
        const auto stays = shared_from_this();
        drop_all();
    }

    void drop_all() noexcept
    {
        while (!waits_.empty()) {
            const boost::intrusive_ptr<wait> last(&waits_.front(), false);
            waits_.pop_front();
            last->done.drop();
        }
    }

    host_state& host_;
    clock::time_point when_{};
    boost::intrusive::list<wait, boost::intrusive::constant_time_size<false>> waits_;
};

void start_wait(leasehold::detail::bound_handler<void(error_code)>&& handler, const timer_parts& on)
{
    on.state->start(std::move(handler));
}

} // namespace impl

timer::timer(host& on) : parts_{on.get_executor(), std::make_shared<impl::timer_state>(on)} {}

timer::~timer()
{
    if (parts_.state)
        parts_.state->complete(asio::error::operation_aborted);
}

void timer::expires_after(clock::duration how_long)
{
    parts_.state->set(parts_.state->where().lease_clock->now() + how_long);
}

void timer::expires_at(clock::time_point when)
{
    parts_.state->set(when);
}

void timer::cancel()
{
    parts_.state->complete(asio::error::operation_aborted);
}

} // namespace leasehold::testing
