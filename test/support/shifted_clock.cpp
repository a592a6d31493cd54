#include "support/shifted_clock.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace leasehold::test {
namespace {

#if defined(LEASEHOLD_TEST_CLOCK_SHIM)
constexpr char shim[] = LEASEHOLD_TEST_CLOCK_SHIM;
#else
constexpr char shim[] = "";
#endif

std::int64_t machine_time()
{
    using namespace std::chrono;
    return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

} // namespace

shifted_clock::shifted_clock()
{
    if (!available())
        throw std::logic_error("no clock shim was built for this system");
    const int file = ::open(directory_.file("shift").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void* mapped = MAP_FAILED;
    if (file >= 0 && ::ftruncate(file, sizeof(clock_shift)) == 0)
        mapped = ::mmap(nullptr, sizeof(clock_shift), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    const std::error_code why(errno, std::generic_category());
    if (file >= 0)
        ::close(file);
    if (mapped == MAP_FAILED)
        throw std::system_error(why, "no shared file for the clock");
    shared_ = static_cast<clock_shift*>(mapped); // a new file is all zero
}

shifted_clock::~shifted_clock()
{
    ::munmap(shared_, sizeof(clock_shift));
}

bool shifted_clock::available() noexcept
{
    return sizeof shim > 1;
}

environment_t shifted_clock::environment() const
{
    return {{"LD_PRELOAD", shim}, {clock_shift_variable, directory_.file("shift")}};
}

void shifted_clock::set(std::chrono::microseconds offset)
{
    shared_->offset = offset.count();
    shared_->frozen_at = 0;
}

void shifted_clock::advance(std::chrono::microseconds by)
{
    shared_->offset += by.count();
    if (shared_->frozen_at != 0)
        shared_->frozen_at += by.count();
}

void shifted_clock::freeze()
{
    if (shared_->frozen_at == 0)
        shared_->frozen_at = machine_time() + shared_->offset;
}

void shifted_clock::freeze_all()
{
    freeze();
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    shared_->monotonic_at = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

void shifted_clock::thaw()
{
    if (const std::int64_t stood_at = shared_->frozen_at; stood_at != 0)
        set(std::chrono::microseconds(stood_at - machine_time()));
}

} // namespace leasehold::test
