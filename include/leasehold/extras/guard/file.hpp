#ifndef LEASEHOLD_EXTRAS_GUARD_FILE_HPP
#define LEASEHOLD_EXTRAS_GUARD_FILE_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/extras/guard/error.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

namespace leasehold::guard {

/// Guards writes to a file, or to anything else that is local to one machine. The fence is kept in
/// a file beside it.
///
/// There are three files beside `PATH`. `PATH.fence` has the largest fence that has written. If it
/// is removed, the fence is forgotten. `PATH.lock` is locked with `flock` while a writer compares
/// and writes. A crash may leave `PATH.new` or `PATH.fence.new`; the next write replaces it.
///
/// @par Crashes
/// The fence reaches the disk before the data changes. Each file is replaced by a complete one
/// (fsync, rename, fsync of the folder). After a crash the data is the old or the new one, never a
/// mixture, and the fence is never smaller.
/// @par Blocking
/// All functions block: on the disk, and during the write of another writer. A writer that is
/// stopped during a write blocks the others until it resumes or dies. The order of writes stays
/// correct.
/// @par Scope
/// Processes that lock the same file with `flock`: those of one machine, and over NFS those of
/// several machines if the mount passes locks on to the server.
/// @par Threads
/// All functions may be called concurrently from any thread.
class file
{
public:
    /// @param path The data. The file need not exist, but its folder must. A symbolic link is
    ///     replaced, not followed.
    LEASEHOLD_EXPORT explicit file(std::filesystem::path path);

    /// The path of the data.
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

    /// Replaces the content of the file, unless a larger fence has written. The mode of the file is
    /// kept. Its other attributes are those of a new file.
    /// @return
    ///  - success: the content is on the disk.
    ///  - `errc::stale_fence`, `errc::invalid_fence`, `errc::damaged_fence`: nothing was written.
    ///  - a system error: the content is the old one. If only the sync of the folder failed, it is
    ///    the new one. The write may be repeated with the same fence.
    [[nodiscard]] LEASEHOLD_EXPORT error_code replace(std::uint64_t fence,
                                                      std::string_view content) const;

    /// Runs `work`, which does the write, unless a larger fence has written. No other writer runs
    /// at the same time. The fence reaches the disk before.
    /// @return As above, or the result of `work`. Exceptions of `work` are passed on.
    [[nodiscard]] LEASEHOLD_EXPORT error_code write(std::uint64_t fence,
                                                    const std::function<error_code()>& work) const;

    /// The largest fence that has written. 0 if there is none, or if `failed` is set.
    [[nodiscard]] LEASEHOLD_EXPORT std::uint64_t newest_fence(error_code& failed) const;

private:
    [[nodiscard]] std::filesystem::path beside(const char* suffix) const;

    std::filesystem::path path_;
};

} // namespace leasehold::guard

#endif
