#include "sql/store/housekeeping.hpp"

#include "base/info_text.hpp"
#include "base/this_process.hpp"

#include <chrono>
#include <utility>

namespace leasehold::sql_store {
namespace {

constexpr std::chrono::seconds usual_pause{60};

request other(call made, std::function<void(std::optional<std::string>)> handler)
{
    const bool alone = made.what == procedure::sweep; // it locks many rows
    return {.made = std::move(made),
            .name = {},
            .waiting = waiting_other{std::move(handler)},
            .alone = alone};
}

} // namespace

housekeeping::housekeeping(const settings& common, std::shared_ptr<commit_queue> through)
    : retention_(common.fence_retention),
      through_(std::move(through)),
      info_(common.client_info ? detail::this_process() : client_info()),
      info_text_(detail::text_of(info_)),
      time_(detail::make_system_time()),
      random_(detail::seed_of(*time_))
{}

void housekeeping::open(const asio::any_io_executor& strand)
{
    open_ = true;
    time_->open(strand, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self || !self->open_)
            return;
        self->introduce();
        self->sweep();
        self->schedule();
    });
    schedule();
}

void housekeeping::close() noexcept
{
    open_ = false;
    time_->close();
}

void housekeeping::belongs_to(std::string_view owner)
{
    if (!client_.empty() || info_.empty())
        return;
    client_ = client_of(owner);
    introduce();
}

void housekeeping::on_serving()
{
    introduce();
}

void housekeeping::introduce()
{
    if (client_.empty() || info_.empty() || !through_->ready())
        return;
    through_->add(other({procedure::introduce, {client_, info_text_}},
                        [](const std::optional<std::string>&) {}));
}

void housekeeping::sweep()
{
    if (retention_.count() == 0 || !through_->ready())
        return;
    through_->add(other(encode_sweep(after_, retention_),
                        [weak = weak_from_this()](std::optional<std::string> last) {
                            if (const auto self = weak.lock(); self && last)
                                self->after_ = std::move(*last);
                        }));
}

void housekeeping::schedule()
{
    const clock::duration usual = usual_pause;
    time_->wake_at(time_->now() + fsm::pick(random_, usual / 2, usual + usual / 2));
}

} // namespace leasehold::sql_store
