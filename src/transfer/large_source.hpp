// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "store/disk_file.hpp"
#include "store/file_digest.hpp"
#include "transfer/ranges.hpp"
#include "transfer/source_files.hpp"

namespace joust::transfer {

// A large file that is being sent: its steps, its ranges and its digest. Protected by the lock of its Bring,
// but for the digest, which another thread makes.
class LargeSource {
 public:
  // Throws std::system_error if the descriptor cannot be duplicated.
  LargeSource(std::size_t item, OpenSource source, std::size_t connections);

  enum class Step : std::uint8_t { to_offer, offering, sending, sealing };
  Step step = Step::to_offer;
  std::uint64_t id = 0;  // of the upload; another one with each offer
  RangesLeft ranges;
  bool was_offered = false;
  ByteRange counted{};          // the bytes that count as there before, and behind them those that were moved
  bool compared = false;        // with what it replaces
  bool may_be_stored = false;   // it was sealed, and the answer was lost
  std::uint64_t most_done = 0;  // bytes that the server had, at the best
  Time give_up_at{};            // when a busy server is not asked any more; Time{}: not busy since then
  unsigned forgotten = 0;       // times that the server knew nothing of it, since it had more than ever

  std::size_t item() const { return item_; }
  const FileVersion& version() const { return version_; }
  const std::shared_ptr<File>& file() const { return file_; }
  // True if the file has other bytes than when it was opened.
  bool has_changed() const;

  // Reads the file to its end, unless it is told to stop; then calls `ready`. On a thread of its own.
  void make_digest(const std::function<void()>& ready);
  // The digest waits before this place of the file. While ranges are sent it keeps just ahead of them: a
  // digest that ran on would take a core from those who send and store, and leave it idle afterwards.
  void pace_digest(std::uint64_t end);
  void stop_digest();
  std::uint64_t digested() const { return digest_.done(); }  // bytes
  bool is_digested() const { return digested_.load(std::memory_order_acquire); }
  // Nothing if the file could not be read.
  std::optional<Digest> digest() const { return readable_ ? std::optional(digest_.value()) : std::nullopt; }

 private:
  const std::size_t item_;
  const FileVersion version_;
  Fd fd_;
  const std::shared_ptr<File> file_;  // for the socket
  SourceFile once_;                   // for the digest
  FileDigest digest_;
  bool readable_ = false;
  std::atomic<bool> digested_{false}, stopped_{false};
  std::atomic<std::uint64_t> pace_{UINT64_MAX};
};

}  // namespace joust::transfer
