// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "files/store/upload/tree_storage.hpp"
#include "files/transfer/file_get.hpp"
#include "files/transfer/listing.hpp"
#include "files/transfer/transfer.hpp"

namespace joust::transfer {

// The files to be fetched, and their destination.
struct GetPlan {
  std::vector<GetItem> items{};
  std::vector<RemoteItem> folders{};   // to be made here, each after its parent
  std::vector<std::string> missing{};  // why files cannot be fetched: each counts as failed
  std::string folder = ".";            // the local folder
  std::uint64_t server = 0;            // distinguishes servers
  FileWishes wishes{};                 // the user's: existing files, syncing
  // The number of connections that so many bytes are worth; the one for the digest is not counted.
  std::function<std::size_t(std::uint64_t)> connections = [](std::uint64_t) { return 1; };
  std::uint64_t bytes_per_s = 0;  // the rate limit; 0: no limit
  unsigned most_retries = 8;
  bool only_asks = false;  // a dry run: nothing is made here
};

// Fetches files, several at a time, and hands their steps to the connections.
class GetTransfer : public Transfer {
 public:
  // Throws std::system_error if the folder does not exist.
  explicit GetTransfer(GetPlan plan);

  std::unique_ptr<Session> open(const ConnectionInfo& info) override;
  std::uint64_t kept() const override;

  const GetPlan& plan() const { return plan_; }
  RateLimit& limit() { return limit_; }
  // The digest of the last file that was fetched.
  std::optional<Digest> fetched() const;
  std::optional<file::Facts> facts() const;  // facts of the first file that is not done

  // Makes the folders of the plan, open to their owner. Call before the connections are made. Waits for the
  // disk.
  void make_folders();
  // Gives the folders that were made the modes that they have on the server. Call once all files are in them.
  void close_folders();

  // For sessions. Any thread.
  using Work = FileDownload::Work;
  // `only_small`: only work on small files that come from a list.
  Work next(const void* session, bool only_small);
  void gone(const void* session);  // the session asks no more

  // For the files.
  TreeStorage& storage() { return storage_; }
  std::size_t connections_for(std::uint64_t bytes) const;
  void dial_another() { dial_more(1); }
  void dial_for(std::size_t connections) { dial_more(connections - 1); }
  void renew(const FileDownload& file);  // asks the server for the facts again
  void skipped(const FileDownload& file, std::uint64_t bytes);
  void fetched(const FileDownload& file, const Digest& digest);
  void failed(const FileDownload& file, const std::string& why, std::uint64_t kept);

 private:
  void done(const FileDownload& file);
  void fail(const std::string& why);

  const GetPlan plan_;
  RateLimit limit_;
  TreeStorage storage_;
  mutable std::mutex mutex_;
  const std::size_t most_active_;
  std::vector<std::shared_ptr<FileDownload>> active_;
  std::size_t next_ = 0;  // the first item that was never begun
  std::size_t left_ = 0;  // items that are not done
  const void* first_ = nullptr;
  std::uint64_t kept_ = 0;  // bytes of files that failed
  std::optional<Digest> fetched_;
  std::vector<std::size_t> closed_;  // folders that get their mode at the end
};

// One connection that fetches. `transfer` is borrowed.
std::unique_ptr<Session> get_session(GetTransfer& transfer);

}  // namespace joust::transfer
