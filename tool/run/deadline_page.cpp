#include "deadline_page.hpp"

#include <cerrno>
#include <new>
#include <sys/mman.h>
#include <system_error>

namespace leasehold::tool {

deadline_page::deadline_page()
{
    void* const memory = ::mmap(nullptr, sizeof(shared_moments), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        throw std::system_error(errno, std::generic_category(),
                                "cannot map a page of shared memory");
    shared_ = new (memory) shared_moments();
}

deadline_page::~deadline_page()
{
    ::munmap(shared_, sizeof(shared_moments));
}

} // namespace leasehold::tool
