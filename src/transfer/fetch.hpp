// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "protocols/file/wire.hpp"
#include "store/file_digest.hpp"
#include "store/tree_storage.hpp"
#include "transfer/ranges.hpp"
#include "transfer/rate_limit.hpp"
#include "transfer/transfer.hpp"

namespace joust::transfer {

// A file to be fetched, and where it goes.
struct FetchPlan {
  std::string name;               // on the server
  std::string folder = ".";       // here
  std::string file;               // in that folder
  std::uint64_t server = 0;       // tells servers apart
  FileWishes wishes{};            // of the user: existing files, syncing
  // How many connections so many bytes are worth; the one for the digest is not counted.
  std::function<std::size_t(std::uint64_t)> connections = [](std::uint64_t) { return 1; };
  std::uint64_t bytes_per_s = 0;  // at most; 0: no limit
  unsigned most_retries = 8;
  bool only_asks = false;  // a rehearsal: nothing is made here
};

// The steps of fetching one file, and who takes which.
class Fetch : public Transfer {
 public:
  // Throws std::system_error if there is no such folder.
  explicit Fetch(const FetchPlan& plan);

  std::unique_ptr<Session> open(const Opening& opening) override;
  std::uint64_t kept() const override;

  const FetchPlan& plan() const { return plan_; }
  RateLimit& limit() { return limit_; }
  // The digest of a file that was fetched, and of no other.
  std::optional<Digest> fetched() const;
  std::optional<file::Facts> facts() const;
  std::optional<Digest> expected() const;  // the server's

  // For sessions. Any thread.
  enum class Task : std::uint8_t {
    none,     // wait for an announcement
    ask,      // for the facts
    compare,  // the file that is here already
    recall,   // what an earlier attempt has left, here
    digest,   // ask for the digest of the whole
    range,    // fetch one
    check,    // the whole, here
  };
  struct Work {
    Task task = Task::none;
    ByteRange range{};
    std::shared_ptr<Upload> into{};
  };
  // `is_first`: the connection that has asked for the facts.
  Work next(bool is_first);
  void give_back(const Work& work, std::uint64_t came);  // so many bytes of a range
  void learned(const file::Facts& facts);
  void recalled(const Upload::Recall& recall);
  void learned_digest(const Digest& digest);
  void digest_missed();                        // the server is there, and has not answered
  void give_up_digest(std::string_view what);  // the server does
  enum class Compared : std::uint8_t { partly, but_for_the_disk, completely };
  Compared compare();  // a slice
  void finished(ByteRange range);
  void checked(const FileAnswer<Upload::Check>& check);
  void forget();
  void give_up(const std::string& why);

 private:
  std::size_t carriers(std::uint64_t bytes) const;
  std::string path_here() const;
  void make_file(const file::Facts& facts);
  bool may_be_here(const file::Facts& facts);
  void judge_what_is_here();
  Compared is_not_on_disk(const FileRefusal& refusal);
  void skip();

  const FetchPlan plan_;
  RateLimit limit_;
  TreeStorage storage_;
  mutable std::mutex mutex_;
  std::optional<file::Facts> facts_;
  std::optional<Digest> digest_, fetched_;
  unsigned digests_missed_ = 0;
  std::shared_ptr<Upload> upload_;
  // The file that is here already, if it may be the wanted one: it has its size.
  OpenFile here_;
  std::optional<FileDigest> digest_here_;
  std::shared_ptr<StoredEntry> synced_here_;
  bool comparing_ = false, compared_ = false, judged_ = false;
  RangesLeft ranges_;
  bool asked_ = false, recalling_ = false, recalled_ = false, asked_digest_ = false, checking_ = false;
};

}  // namespace joust::transfer
