// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "files/protocol/wire.hpp"
#include "files/store/disk/disk_file.hpp"
#include "files/store/file_digest.hpp"
#include "files/transfer/source_files.hpp"
#include "files/transfer/transfer.hpp"

namespace joust::transfer {

// The order in which the directories of a transfer are asked for: over one connection at a time and before
// any file, so that no file makes its directory. Directories to which their owner may not write get their
// mode at the end, the deepest first: no process may pass through a closed one. One thread at a time.
class FolderOrder {
 public:
  explicit FolderOrder(std::size_t folders) : left_(folders) {}

  // True if this session may ask for a directory now. It has to call answered() or put_off() later.
  bool may_ask(const void* session);
  void put_off() { --asked_; }  // it is asked for once more
  void answered_last() { --asked_; }
  // The answer to the first request for a directory. `close`: the item, if the directory is to be closed at
  // the end. Returns true after the last directory: files may follow.
  bool answered(std::optional<std::size_t> close);
  bool are_all_there() const { return left_ == 0; }

  // When all files are done: begins to close the directories. Returns how many there are; none after a
  // failure, because they stay open for the next attempt.
  std::size_t begin_to_close(bool has_failed);
  std::optional<std::size_t> next_to_close(const void* session);

 private:
  const void* session_ = nullptr;
  std::size_t asked_ = 0;            // requests without an answer
  std::size_t left_;                 // directories without an answer to the first request
  std::vector<std::size_t> closed_;  // items: directories that get their mode at the end
  std::vector<std::size_t> last_;    // items: those of closed_ when all else is done
};

// A large file that is being sent: its steps, its ranges and its digest. Protected by the lock of its
// SendTransfer, except for the digest, which another thread makes.
class LargeSource {
 public:
  // Throws std::system_error if the descriptor cannot be duplicated.
  LargeSource(std::size_t item, OpenSource source, std::size_t connections);

  enum class Step : std::uint8_t { to_offer, offering, sending, sealing };
  Step step = Step::to_offer;
  std::uint64_t id = 0;  // number of the upload; a new one with each offer
  RangesLeft ranges;
  bool was_offered = false;
  ByteRange counted{};          // offset: bytes counted as there before; size: bytes counted as moved
  bool compared = false;        // compared with the file that it replaces
  bool may_be_stored = false;   // the file was sealed, and the answer was lost
  std::uint64_t most_done = 0;  // the most bytes that the server has had
  Time give_up_at{};            // when to stop asking a busy server; Time{}: not busy since the last progress
  unsigned forgotten = 0;       // times that the server did not know the upload, since the last progress

  std::size_t item() const { return item_; }
  const FileVersion& version() const { return version_; }
  const std::shared_ptr<File>& file() const { return file_; }
  // True if the file has other bytes than when it was opened.
  bool has_changed() const;

  // Reads the file to its end, and then calls `ready`; stops earlier, without that call, after stop_digest().
  // On a thread of its own.
  void make_digest(const std::function<void()>& ready);
  // Lets the digest wait at this position of the file. While ranges are sent it keeps just ahead of them: a
  // digest that ran on would take a core from the threads that send and store, and leave it idle afterwards.
  void pace_digest(std::uint64_t end);
  void stop_digest();
  std::uint64_t digested() const { return digest_.done(); }  // bytes
  bool is_digested() const { return digested_.load(std::memory_order_acquire); }
  // Empty if the file could not be read.
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

struct SendPlan {
  std::vector<SourceItem> items{};
  std::vector<std::string> missing{};  // why sources cannot be sent: each counts as a failed file
  FileWishes wishes{};                 // the user's: existing files, syncing
  std::uint64_t bytes_per_s = 0;       // the rate limit; 0: no limit
  unsigned most_retries = 8;
};

// The permissions of a directory's owner, as long as files are stored in it.
inline constexpr std::uint32_t kOwnersPermissions = 0700;

// Sends files, and hands the steps to the connections. Files of at most one range are sent whole, many of
// them without waiting for answers, and so are directories. Larger files are offered, one at a time, and all
// connections carry their ranges.
class SendTransfer : public Transfer {
 public:
  explicit SendTransfer(SendPlan plan);
  ~SendTransfer() override;

  std::unique_ptr<Session> open(const ConnectionInfo& info) override;
  std::uint64_t kept() const override;
  bool is_in_vain() const override;

  const FileWishes& wishes() const { return plan_.wishes; }
  RateLimit& limit() { return limit_; }
  // The digest of the last file that was stored.
  std::optional<Digest> digest() const;

  // For sessions. Any thread.
  enum class Task : std::uint8_t { none, whole, offer, range, seal };
  struct Work {
    Task task = Task::none;
    std::size_t item = 0;
    bool is_last = false;  // whole: the second request for a directory, after all its files
    bool again = false;    // whole: an earlier attempt may have succeeded
    bool differs = false;  // whole: the server was asked, and has no such file or another one
    Time give_up_at{};     // whole: when to stop asking a busy server; Time{}: it was not busy
    ByteRange range{};
    std::shared_ptr<LargeSource> large{};  // offer, range, seal
    std::uint64_t id = 0;                  // offer, range, seal: the number of the offer
  };
  // The connection that asks for work.
  struct Asker {
    const void* session = nullptr;
    bool only_whole = false;  // it waits for answers, and takes only whole files meanwhile
  };
  Work next(const Asker& asker);
  void give_back(const Work& work);
  void found_busy() { was_busy_ = true; }
  bool was_busy() const { return was_busy_; }  // the server was busy at some time
  void put_off(const Work& work);              // whole: to be taken once more, by any free connection
  // True if the server is asked for a file before the file is sent: after an interruption, many files in a
  // row exist there.
  bool asks_first() const { return asks_first_; }
  void asks_first(bool expected) { asks_first_ = expected; }
  const SourceItem& item(std::size_t number) const { return plan_.items[number]; }
  void stored(const Work& work, const Digest& digest);
  void folder_is_there(const Work& work, bool by_this);
  void skipped(const Work& work);
  // Ends one file; the other files go on. `stays`: the bytes sent so far are kept for the next attempt.
  void failed(const Work& work, const std::string& why, bool stays = false);
  void offered(const Work& work, const file::Offered& offered);
  // Returns when to stop asking a server that is busy with the large file. `first` is that time if the server
  // was not busy before.
  Time give_up_at(const Work& work, Time first);
  void offer_again(const Work& work);  // the server no longer knows the upload
  void finished(const Work& work);     // a range is finished
  // The digested bytes of a large file whose bytes the server has, if only its digest is missing here.
  std::optional<std::uint64_t> digested() const;

 private:
  Work next_item(const Asker& asker);
  void folder_done(const Work& work, bool is_there);
  bool is_folder(const Work& work) const { return plan_.items[work.item].is_folder; }
  Work next_of_large();
  std::uint64_t largest_whole() const;  // bytes
  bool begin_large(std::size_t item);
  void count_again(std::uint64_t there);
  void item_done();
  bool is_current(const Work& work) const;
  void drop_large(const Work& work);

  const SendPlan plan_;
  RateLimit limit_;
  mutable std::mutex mutex_;
  std::deque<Work> returned_;  // whole files
  std::size_t next_ = 0;       // the first item that was never handed out
  std::size_t left_ = 0;       // items that are not done
  FolderOrder folders_;
  std::atomic<bool> was_busy_{false};
  std::shared_ptr<LargeSource> large_;
  std::uint64_t kept_ = 0;  // bytes of large files that failed
  std::optional<Digest> digest_;
  std::atomic<bool> asks_first_{false};
  BackgroundThread worker_;  // destroyed first
};

// One connection that sends files: many whole ones, or a piece of a large one. `send` is borrowed.
std::unique_ptr<Session> send_session(SendTransfer& send);

}  // namespace joust::transfer
