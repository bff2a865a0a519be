// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/memory.hpp"
#include "files/store/disk/file_tree.hpp"
#include "files/store/quota.hpp"
#include "files/store/storage.hpp"
#include "files/store/upload/disk_upload.hpp"
#include "joust/time.hpp"

// The use of a file server's descriptors (RLIMIT_NOFILE, `ulimit -n`). All limits of uploads and connections
// that follow from that limit are computed from these numbers; a test counts the descriptors of each kind of
// upload.
namespace joust::descriptors {

// The file, its lock, its journal (from the first MiB on) and the folder of its name. A file that is sent
// whole has neither lock nor journal.
inline constexpr std::uint64_t kOfUpload = 4;
inline constexpr std::uint64_t kOfWhole = 2;
// The socket of a connection, and a file that is fetched.
inline constexpr std::uint64_t kOfConnection = 2;
// A pipe, through which the kernel moves bytes into a file: one for each thread that receives.
inline constexpr std::uint64_t kOfPipe = 2;
// The descriptors that are needed while a file gets its name: its folder once more, and two directories on
// its path. Two threads do that.
inline constexpr std::uint64_t kOfNaming = 2 * 3;

// A quarter of all descriptors is for uploads, and an eighth for whole files that wait for the disk. The rest
// is for the server itself, for names, and for connections. More connections are accepted than may send files
// at a time, because a peer that has to wait must get an answer that says so.
constexpr std::uint64_t uploads_of(std::uint64_t limit) {
  return limit < 16 ? 1 : limit / 4 / kOfUpload;
}
constexpr std::uint64_t waiting_of(std::uint64_t limit) {
  return limit < 16 ? 1 : limit / 8 / kOfWhole;
}

}  // namespace joust::descriptors

namespace joust {

struct StorageRules {
  Existing existing = Existing::keep;
  std::uint64_t largest_file = std::uint64_t{64} << 30;  // bytes
  std::size_t most_uploads = 256;                        // open at once
  // Interrupted uploads that are kept, to be resumed. Beyond this number the oldest is removed.
  std::size_t most_kept = 4096;
  // Limit of the bytes that uploads may add. Empty: nine tenths of the disk's free space, or half of the
  // available memory, when the storage is made.
  std::optional<std::uint64_t> most_stored{};
  FileRead read = FileRead::read;
  FileWrite write = FileWrite::write;
  // Two changes of a file within this time may get equal time stamps; FAT has steps of 2 s.
  Duration timestamp_step = std::chrono::seconds(3);
};

// Limits the number of open uploads. No address can keep all slots: see Shares. Any thread.
class UploadSlots {
 public:
  explicit UploadSlots(std::size_t most) : shares_(most, 1) {}
  FileAnswer<std::unique_ptr<UploadSlot>> take(const Uploader& from);

 private:
  Shares shares_;
};

// The files of one tree, and additional files in memory.
class TreeStorage : public Storage {
 public:
  TreeStorage(std::unique_ptr<FileTree> files, const StorageRules& rules);

  // Adds a file that cannot be replaced or changed. Call before the first use.
  void add_sample(const std::string& name, Fd contents);

  FileAnswer<OpenFile> open(std::string_view name) override;
  bool is_unchanged(const OpenFile& file) const override;
  FileAnswer<FolderListing> list(std::string_view folder, std::size_t most) override;
  FileAnswer<std::unique_ptr<FolderReader>> read_folder(std::string_view name) override;
  FileAnswer<std::shared_ptr<Upload>> upload(const UploadRequest& request) override;
  FileAnswer<std::shared_ptr<StoredEntry>> make_folder(std::string_view name,
                                                       const FileWishes& wishes) override;
  FileAnswer<std::shared_ptr<StoredEntry>> sync(std::string_view name) override;
  void forget_interrupted(std::string_view name) override;
  void remember(const OpenFile& file, const Digest& digest) override;
  bool is_crowded() const override { return commits_.waiting() >= most_waiting_; }

  const PlainBytes& plain_bytes() const { return *plain_; }
  const Quota& quota() const { return quota_; }
  // The number of interrupted uploads that can be resumed and have not been resumed so far.
  std::size_t unfinished() const { return kept_.count(); }

 private:
  using Key = std::pair<std::string, std::uint64_t>;  // name, id

  FileAnswer<OpenFile> open_named(std::string_view name);
  FileAnswer<std::shared_ptr<DiskUpload>> begin(const UploadRequest& request);
  NewFileRules rules_for(const UploadRequest& request);

  const StorageRules rules_;
  const std::size_t most_waiting_;  // files that may wait for the disk
  const std::unique_ptr<FileTree> files_;
  // Files and uploads borrow the next three members, which outlive them: no session outlives the service.
  SharedMemory<PlainBytes> plain_{};
  UploadSlots slots_;
  Quota quota_;
  KeptShares kept_{rules_.most_kept, [this](std::string_view name) { files_->remove_partial(name); }};
  std::map<std::string, OpenFile, std::less<>> samples_;
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<DiskUpload>> uploads_;
  std::map<FileVersion, Digest> digests_;
  // The threads are destroyed before the rest: a task may hold the last reference to an upload.
  BackgroundThread worker_;
  GroupCommit commits_;
};

}  // namespace joust
