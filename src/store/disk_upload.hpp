// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "store/file_digest.hpp"
#include "store/storage.hpp"
#include "store/digest_worker.hpp"
#include "store/disk_file.hpp"
#include "store/file_tree.hpp"
#include "store/quota.hpp"
#include "store/range_set.hpp"

namespace joust {

// What a directory does with uploads.
struct UploadRules {
  FileWrite how = FileWrite::write;
  Quota* quota = nullptr;          // borrowed, as are these:
  PlainBytes* plain = nullptr;
  DigestWorker* worker = nullptr;  // for what never was in our memory; else whoever stores does its work
};

// An upload into a file in the making.
class DiskUpload : public Upload, public std::enable_shared_from_this<DiskUpload> {
 public:
  static FileAnswer<std::shared_ptr<DiskUpload>> begin(std::unique_ptr<NewFile> place,
                                                       const UploadRequest& request,
                                                       const UploadRules& rules);
  DiskUpload(std::unique_ptr<NewFile> place, std::unique_ptr<QuotaShare> share, const UploadRequest& request,
             const UploadRules& rules);

  FileAnswer<void> take(ByteRange range) override;
  void give_back(ByteRange range) override;
  FileAnswer<void> make_room(ByteRange part) override;
  void stored(ByteRange part, Bytes seen) override;
  bool finish(ByteRange range) override;
  FileAnswer<Check> check() override;
  std::uint64_t left_to_check() const override { return size_ - digest_.done(); }
  bool over() const override { return over_; }
  std::uint64_t received() const override { return stored_bytes_; }
  File& file() override { return file_; }

  // Whether the request may be about a range of this very upload.
  bool same(const UploadRequest& request) const;
  PeerAddress peer() const { return peer_; }  // who has begun it

 private:
  std::uint64_t stored_from(std::uint64_t offset);
  bool left_to_worker(std::uint64_t stored);
  void catch_up();
  bool digest_up_to(std::uint64_t end);
  FileAnswer<Check> conclude();

  const std::uint64_t size_;
  const std::optional<Digest> expected_;
  const bool rehearsal_;
  const PeerAddress peer_;
  std::mutex mutex_;
  const std::unique_ptr<NewFile> place_;
  const std::unique_ptr<QuotaShare> share_;
  TargetFile file_;
  RangeSet taken_;
  RangeSet stored_;                             // of what is taken
  std::uint64_t there_ = 0;                     // bytes of ranges that are finished
  std::atomic<bool> over_{false};               // all is there: being checked, published or refused
  std::mutex digesting_;                        // before mutex_, where both are needed
  FileDigest digest_;                           // under it, but for done()
  std::atomic<std::uint64_t> stored_bytes_{0};  // also what came again
  DigestWorker* const worker_;
  std::atomic<bool> called_{false};  // and has not begun yet
};

}  // namespace joust
