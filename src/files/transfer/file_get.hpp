// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "files/protocol/wire.hpp"
#include "files/store/file_digest.hpp"
#include "files/store/storage.hpp"
#include "files/transfer/transfer.hpp"

namespace joust::transfer {

// Describes what has the name of a file that is to be made, and what a user can do: "is a named pipe; ...".
// Empty for a regular file, a directory, or nothing. Follows no link. Any thread.
std::string output_error(const std::filesystem::path& path);

class GetTransfer;

// A file to be fetched, and its local name.
struct GetItem {
  std::string name{};                  // its name on the server
  std::string file{};                  // its name here, below the folder of the plan
  std::optional<file::Facts> facts{};  // from the server's list, perhaps old; empty: the server is asked
};

// True for a listed file so small that the server sends its digest with its bytes.
inline bool is_small(const GetItem& item) {
  return item.facts && item.facts->size <= file::kSentWithDigest;
}

// The steps of fetching one file. It belongs to a GetTransfer, which hands its work to the connections and
// receives its outcome. Any thread; next() and kept() are the only methods that may be called under the lock
// of the Fetch.
class FileDownload {
 public:
  FileDownload(GetTransfer& owner, GetItem item);

  enum class Task : std::uint8_t {
    none,     // wait for an announcement
    ask,      // ask for the facts
    begin,    // make the local file by the facts
    compare,  // compare the file that exists here
    resume,   // verify the bytes left here by an earlier attempt
    digest,   // ask for the digest of the whole file
    range,    // fetch a range
    check,    // check the whole file here
  };
  struct Work {
    Task task = Task::none;
    std::shared_ptr<FileDownload> of{};
    ByteRange range{};
    std::shared_ptr<Upload> into{};
    unsigned attempts = 0;  // check: attempts to give the file its name
  };

  const GetItem& item() const { return item_; }
  // True for a small file whose facts come from a list. The answer with its digest confirms or refutes these
  // facts.
  static bool is_listed(const GetItem& item) { return item.facts && item.facts->size <= kRangeBytes; }
  bool is_listed() const { return is_listed(item_); }
  std::optional<file::Facts> facts() const;
  std::optional<Digest> expected() const;  // the server's digest
  std::uint64_t kept() const;              // bytes that are left for the next attempt

  // `is_first`: the connection that fetches ranges before it asks for the digest. Work::of is not set.
  Work next(bool is_first);
  void give_back(const Work& work, std::uint64_t came);  // `came`: bytes of a range that have arrived
  void learned(const file::Facts& facts);
  void begin();
  void resumed(const Upload::Resumption& resumption);
  void learned_digest(const Digest& digest);
  void digest_missed();                        // the server has answered before, but not this question
  void give_up_digest(std::string_view what);  // `what`: verb of the server in the message
  enum class Compared : std::uint8_t { partly, unsynced, completely };
  Compared compare();  // compares one slice
  void finished(ByteRange range);
  void checked(const FileAnswer<Upload::Check>& check);
  void changed_on_server();
  void give_up(const std::string& why);

 private:
  std::string local_path() const;
  void make_file(const file::Facts& facts);
  bool find_existing(const file::Facts& facts);
  void judge_existing();
  Compared is_not_on_disk(const FileRefusal& refusal);
  void skip();
  void forget();

  GetTransfer& owner_;
  const GetItem item_;
  mutable std::mutex mutex_;
  std::optional<file::Facts> facts_;
  std::optional<Digest> digest_;
  unsigned digests_missed_ = 0;
  std::shared_ptr<Upload> upload_;
  // The file that exists here, if it may be the wanted one: it has the same size.
  OpenFile existing_;
  std::optional<FileDigest> existing_digest_;
  std::shared_ptr<StoredEntry> existing_sync_;
  bool begun_ = false, comparing_ = false, compared_ = false, judged_ = false;
  RangesLeft ranges_;
  bool asked_ = false, resuming_ = false, resumed_ = false, asked_digest_ = false, checking_ = false;
  bool is_over_ = false;
};

}  // namespace joust::transfer
