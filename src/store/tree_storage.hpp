// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/shared_memory.hpp"
#include "joust/time.hpp"
#include "store/disk_upload.hpp"
#include "store/file_tree.hpp"
#include "store/quota.hpp"
#include "store/storage.hpp"
#include "store/upload_claims.hpp"

namespace joust {

struct StorageRules {
  Existing existing = Existing::keep;
  std::uint64_t largest_file = std::uint64_t{64} << 30;  // bytes
  std::size_t most_uploads = 256;                        // open at once
  std::size_t most_kept = 4096;  // uploads that were interrupted, to be gone on with: the oldest goes
  // Bytes that uploads may add. Empty: nine tenths of the disk's free space, or half of the available memory,
  // when the storage is made.
  std::optional<std::uint64_t> most_stored{};
  FileRead read = FileRead::read;
  FileWrite write = FileWrite::write;
  // Two changes of a file within this time may get equal time stamps; FAT has steps of 2 s.
  Duration timestamp_step = std::chrono::seconds(3);
};

// The files of one tree, and additional files in memory.
class TreeStorage : public Storage {
 public:
  TreeStorage(std::unique_ptr<FileTree> files, const StorageRules& rules);

  // Adds a file that cannot be replaced or changed. Call before the first use.
  void add_sample(const std::string& name, Fd contents);

  FileAnswer<OpenFile> open(std::string_view name) override;
  FileAnswer<FolderListing> list(std::string_view folder, std::size_t most) override;
  FileAnswer<std::unique_ptr<FolderReader>> read_folder(std::string_view name) override;
  FileAnswer<std::shared_ptr<Upload>> upload(const UploadRequest& request) override;
  FileAnswer<std::shared_ptr<StoredEntry>> make_folder(std::string_view name,
                                                       const FileWishes& wishes) override;
  FileAnswer<std::shared_ptr<StoredEntry>> sync(std::string_view name) override;
  void remember(const OpenFile& file, const Digest& digest) override;
  bool is_crowded() const override { return waiting() >= most_waiting_; }
  void session_ended() override;

  const PlainBytes& plain_bytes() const { return *plain_; }
  const Quota& quota() const { return quota_; }
  // Uploads that were interrupted and can be gone on with, and have not been so far.
  std::size_t unfinished() const { return kept_.count() + quota_.places().count_left(); }

 private:
  using Key = std::pair<std::string, std::uint64_t>;  // name, id

  std::size_t waiting() const { return commits_.waiting() + publisher_.waiting(); }  // files, for the disk
  FileAnswer<OpenFile> open_named(std::string_view name);
  // A process of one connection may wait for the disk, and is not to end before a thread that does: null.
  DigestWorker* publisher() { return claims_.is_shared() ? nullptr : &publisher_; }
  GroupCommit* commits() { return claims_.is_shared() ? nullptr : &commits_; }
  FileAnswer<std::shared_ptr<DiskUpload>> begin(const UploadRequest& request);
  NewFileRules rules_for(const UploadRequest& request);

  const StorageRules rules_;
  const std::size_t most_waiting_;  // files for the disk
  const std::unique_ptr<FileTree> files_;
  SharedMemory<PlainBytes> plain_{};  // outlives the files, because sessions do not outlive the service
  UploadSlots slots_;                 // likewise
  Quota quota_;                       // likewise
  UploadClaims claims_;               // likewise
  KeptShares kept_{rules_.most_kept, [this](std::string_view name) { files_->remove_partial(name); }};
  std::map<std::string, OpenFile, std::less<>> samples_;
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<DiskUpload>> uploads_;
  std::map<FileVersion, Digest> digests_;
  DigestWorker worker_;     // destroyed before the rest: its task may hold the last reference to an upload
  DigestWorker publisher_;  // likewise
  GroupCommit commits_;     // likewise
};

}  // namespace joust
