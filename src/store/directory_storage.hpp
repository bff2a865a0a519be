// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "store/storage.hpp"
#include "store/directory.hpp"
#include "store/disk_upload.hpp"

namespace joust {

struct StorageRules {
  Existing existing = Existing::keep;
  std::uint64_t largest_file = std::uint64_t{64} << 30;  // bytes
  std::size_t most_uploads = 256;                        // in the making
  FileRead read = FileRead::read;
  FileWrite write = FileWrite::write;
};

// The files below one directory, and files in memory beside them.
class DirectoryStorage : public Storage {
 public:
  // Throws std::system_error when there is no such directory.
  DirectoryStorage(const std::string& root, const StorageRules& rules);

  // Offers a file in memory of that name; before the first use.
  void add_sample(const std::string& name, Fd contents);

  FileAnswer<OpenFile> open(std::string_view name) override;
  FileAnswer<std::shared_ptr<Upload>> upload(const UploadRequest& request) override;
  void remember(const FileVersion& version, const Digest& digest) override;

  const PlainBytes& plain_bytes() const { return plain_; }

 private:
  using Key = std::pair<std::string, std::uint64_t>;  // name, id

  FileAnswer<std::shared_ptr<Upload>> begin(const UploadRequest& request);

  const StorageRules rules_;
  const Directory directory_;
  PlainBytes plain_;  // outlives the files: sessions do not outlive the service
  std::map<std::string, OpenFile, std::less<>> samples_;
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<DiskUpload>> uploads_;
  std::map<FileVersion, Digest> digests_;
  DigestWorker worker_;  // ends first: what it has in hand may be the last to hold an upload
};

// Which bytes an open file holds. Throws std::system_error.
FileVersion version_of(int fd);

}  // namespace joust
