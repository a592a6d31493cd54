#ifndef LEASEHOLD_TEST_SUPPORT_DIRECTORY_HPP
#define LEASEHOLD_TEST_SUPPORT_DIRECTORY_HPP

#include <filesystem>
#include <string>

namespace leasehold::test {

/// A directory for one test, removed with its content. Its path is short enough for a local socket.
class temporary_directory
{
public:
    temporary_directory();
    ~temporary_directory();
    temporary_directory(const temporary_directory&) = delete;
    temporary_directory& operator=(const temporary_directory&) = delete;

    const std::filesystem::path& path() const noexcept { return path_; }
    std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

/// The content of a file. Empty if it cannot be read.
[[nodiscard]] std::string text_of(const std::filesystem::path& file);

} // namespace leasehold::test

#endif
