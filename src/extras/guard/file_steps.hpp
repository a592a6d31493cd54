#ifndef LEASEHOLD_SRC_EXTRAS_GUARD_FILE_STEPS_HPP
#define LEASEHOLD_SRC_EXTRAS_GUARD_FILE_STEPS_HPP

#include <leasehold/error.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold::guard {

/// A file descriptor that closes itself.
class descriptor
{
public:
    descriptor() = default;
    explicit descriptor(int number) noexcept : number_(number) {}
    descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept
    {
        std::swap(number_, other.number_);
        return *this;
    }
    ~descriptor();

    [[nodiscard]] int get() const noexcept { return number_; }

private:
    int number_ = -1;
};

/// Opens or creates the file and waits until no other process has it locked. The lock ends with the
/// result.
[[nodiscard]] descriptor lock_file(const std::filesystem::path& path, error_code& failed);

/// The whole content. If there is no file: empty, and `failed` is `no_such_file_or_directory`.
[[nodiscard]] std::string read_file(const std::filesystem::path& path, error_code& failed);

/// Replaces the file by a complete one, which is on the disk when this returns.
[[nodiscard]] error_code replace_file(const std::filesystem::path& path, std::string_view content);

} // namespace leasehold::guard

#endif
