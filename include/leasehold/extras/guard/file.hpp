#ifndef LEASEHOLD_EXTRAS_GUARD_FILE_HPP
#define LEASEHOLD_EXTRAS_GUARD_FILE_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/extras/guard/error.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

namespace leasehold::guard {

/// Guards writes to a file, or to whatever else one machine keeps, with the fence in a file beside
/// it.
///
/// Three files stand beside `PATH`: `PATH.fence` keeps the largest fence that has written,
/// `PATH.lock` is locked (flock) while one writer compares and writes, `PATH.new` or
/// `PATH.fence.new` is what a crash may leave behind; the next write takes its place. Whoever
/// removes `PATH.fence` forgets the fence.
///
/// @par Crashes
/// The fence is on the disk before the data is touched, and each file is replaced by one that is
/// complete (fsync, rename, fsync of the folder). After a crash the data is the old or the new one,
/// never a mixture, and the fence never goes back.
/// @par Waiting
/// Everything here blocks: on the disk, and while another writer is in. A writer that is stopped in
/// the middle of a write holds up the others until it goes on or dies: the order stays right.
/// @par Where it holds
/// Among processes that lock the same file with flock: those of one machine; over NFS when the
/// mount passes such locks on to the server.
/// @par Threads
/// Each function may be called from any thread, at the same time.
class file
{
public:
    /// @param path Of the data. It need not exist yet; its folder must. A symbolic link would be
    /// replaced and not followed.
    LEASEHOLD_EXPORT explicit file(std::filesystem::path path);

    /// Of the data.
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

    /// Replaces the content of the file, unless a larger fence has written. The mode of the file
    /// stays, its other attributes are those of a new file.
    /// @return
    ///  - success: it is written and on the disk.
    ///  - `errc::stale_fence`, `errc::invalid_fence`, `errc::damaged_fence`: nothing was written.
    ///  - an error of the system: the content is the old one, or, when only the folder could not be
    ///  brought to the disk, the new one. Writing again with the same fence is right.
    [[nodiscard]] LEASEHOLD_EXPORT error_code replace(std::uint64_t fence,
                                                      std::string_view content) const;

    /// Runs `work`, which writes in its own way, unless a larger fence has written. No other writer
    /// is in while it runs. The fence is on the disk before.
    /// @return As above, or what `work` returned. What it throws passes through.
    [[nodiscard]] LEASEHOLD_EXPORT error_code write(std::uint64_t fence,
                                                    const std::function<error_code()>& work) const;

    /// The largest fence that has written; 0 when none has, or `failed` is set.
    [[nodiscard]] LEASEHOLD_EXPORT std::uint64_t newest_fence(error_code& failed) const;

private:
    [[nodiscard]] std::filesystem::path beside(const char* suffix) const;

    std::filesystem::path path_;
};

} // namespace leasehold::guard

#endif
