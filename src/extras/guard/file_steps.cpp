#include "extras/guard/file_steps.hpp"

#include "base/uninterrupted.hpp"

#include <boost/system/errc.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

namespace leasehold::guard {
namespace {

using detail::uninterrupted;

error_code last_error() noexcept
{
    return {errno, boost::system::system_category()};
}

descriptor open(const std::filesystem::path& path, int flags, error_code& failed)
{
    const int number = uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0666); });
    if (number < 0)
        failed = last_error();
    return descriptor(number);
}

/// Whether the path still leads to the open file.
bool same_file(const std::filesystem::path& path, int number) noexcept
{
    struct stat named = {};
    struct stat opened = {};
    return ::stat(path.c_str(), &named) == 0 && ::fstat(number, &opened) == 0 &&
           named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

error_code write_all(int number, std::string_view content) noexcept
{
    while (!content.empty()) {
        const auto written = uninterrupted(
            [&] { return ::write(number, content.data(), content.size()); });
        if (written < 0)
            return last_error();
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

error_code to_disk(int number) noexcept
{
    const int result = uninterrupted([&] { return ::fsync(number); });
    return result < 0 ? last_error() : error_code();
}

error_code write_new(const std::filesystem::path& path, const std::filesystem::path& like,
                     std::string_view content)
{
    error_code failed;
    const descriptor made = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, failed);
    if (failed)
        return failed;
    struct stat old = {};
    if (::stat(like.c_str(), &old) == 0 && ::fchmod(made.get(), old.st_mode & 07777) != 0)
        return last_error();
    failed = write_all(made.get(), content);
    return failed ? failed : to_disk(made.get());
}

} // namespace

descriptor::~descriptor()
{
    if (number_ >= 0)
        ::close(number_);
}

descriptor lock_file(const std::filesystem::path& path, error_code& failed)
{
    for (;;) {
        descriptor opened = open(path, O_RDWR | O_CREAT, failed);
        if (failed)
            return {};
        if (uninterrupted([&] { return ::flock(opened.get(), LOCK_EX); }) != 0) {
            failed = last_error();
            return {};
        }
        // The file may have been removed during the wait: then the lock is useless.
        if (same_file(path, opened.get()))
            return opened;
    }
}

std::string read_file(const std::filesystem::path& path, error_code& failed)
{
    const descriptor opened = open(path, O_RDONLY, failed);
    if (failed)
        return {};
    std::string content;
    std::array<char, 4096> part;
    for (;;) {
        const auto size = uninterrupted(
            [&] { return ::read(opened.get(), part.data(), part.size()); });
        if (size < 0)
            failed = last_error();
        if (size <= 0)
            return content;
        content.append(part.data(), static_cast<std::size_t>(size));
    }
}

error_code replace_file(const std::filesystem::path& path, std::string_view content)
{
    std::filesystem::path made = path;
    made += ".new";
    if (const error_code failed = write_new(made, path, content)) {
        ::unlink(made.c_str());
        return failed;
    }
    if (::rename(made.c_str(), path.c_str()) != 0) {
        const error_code failed = last_error();
        ::unlink(made.c_str());
        return failed;
    }
    error_code failed;
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    const descriptor opened = open(folder, O_RDONLY | O_DIRECTORY, failed);
    return failed ? failed : to_disk(opened.get());
}

} // namespace leasehold::guard
