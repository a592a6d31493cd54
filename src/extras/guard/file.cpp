#include <leasehold/extras/guard/file.hpp>

#include "extras/guard/fence_text.hpp"
#include "extras/guard/file_steps.hpp"

#include <boost/system/errc.hpp>

#include <string>
#include <utility>

namespace leasehold::guard {
namespace {

/// 0 if nothing has been written there.
std::uint64_t read_fence(const std::filesystem::path& path, error_code& failed)
{
    std::string content = read_file(path, failed);
    if (failed == boost::system::errc::no_such_file_or_directory) {
        failed = {};
        return 0;
    }
    if (failed)
        return 0;
    std::uint64_t fence = 0;
    if (content.ends_with('\n')) {
        content.pop_back();
        fence = fence_of(content);
    }
    if (fence == 0)
        failed = errc::damaged_fence;
    return fence;
}

} // namespace

file::file(std::filesystem::path path) : path_(std::move(path)) {}

std::filesystem::path file::beside(const char* suffix) const
{
    std::filesystem::path result = path_;
    result += suffix;
    return result;
}

error_code file::write(std::uint64_t fence, const std::function<error_code()>& work) const
{
    error_code failed = check_fence(fence);
    if (failed)
        return failed;
    const descriptor locked = lock_file(beside(".lock"), failed);
    if (failed)
        return failed;
    const std::uint64_t newest = read_fence(beside(".fence"), failed);
    if (failed)
        return failed;
    if (fence < newest)
        return errc::stale_fence;
    if (fence > newest)
        failed = replace_file(beside(".fence"), std::to_string(fence) + '\n');
    return failed ? failed : work();
}

error_code file::replace(std::uint64_t fence, std::string_view content) const
{
    return write(fence, [&] { return replace_file(path_, content); });
}

std::uint64_t file::newest_fence(error_code& failed) const
{
    failed = {};
    // A replaced file is complete at every moment: reading needs no lock.
    return read_fence(beside(".fence"), failed);
}

} // namespace leasehold::guard
