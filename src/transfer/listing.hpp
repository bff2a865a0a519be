// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocols/file/wire.hpp"
#include "transfer/remote_tree.hpp"
#include "transfer/transfer.hpp"

namespace joust::transfer {

// What is to be listed, and how much of it at the most.
struct ListPlan {
  std::string name{};      // a directory, or a file, on the server; empty: the server's own directory
  bool recursive = false;  // all that is below it
  bool only_kind = false;  // nothing of it, but whether it is a directory, a file, or neither
  unsigned most_retries = 8;
  TreeLimits limits{};
};

// Asks a server what is in its directories. It is over when all of them have been listed, or cannot be. The
// server's list of a directory counts when all of it has come and nothing speaks against it.
class Listing : public Transfer {
 public:
  explicit Listing(const ListPlan& plan);

  std::unique_ptr<Session> open(const Opening& opening) override;

  const ListPlan& plan() const { return plan_; }
  // Once it is over.
  bool is_file() const { return is_file_; }      // what was asked for: the facts are all there is
  bool is_folder() const { return is_folder_; }  // with `only_kind`
  const std::optional<file::Facts>& facts() const { return facts_; }  // of what was asked for
  std::vector<RemoteItem> take_items() { return tree_.take_sorted(); }
  std::uint64_t left_out() const { return left_out_; }  // names on the server that cannot be fetched

  // For sessions. Any thread.
  struct Work {
    std::string folder{};      // below what was asked for; empty: that itself
    bool may_be_file = false;  // it is asked for as a file
    RemoteTree::Coming coming{};
  };
  std::optional<Work> next();
  void give_back(Work work);
  // Some entries of a directory have come, and more may. False: something speaks against them, and the
  // listing is over.
  bool may_go_on(Work& work, std::span<const FolderEntry> part);
  void listed(Work work, const file::Facts& facts, std::vector<FolderEntry> entries, std::uint64_t left_out);
  void is_a_file(const file::Facts& facts);
  void refused(Work work, const FileRefusal& refusal);

 private:
  bool is_top(const Work& work) const { return work.folder.empty(); }
  bool tells_kind(const FileRefusal& refusal);
  void done();  // one directory
  void give_up(const std::string& why);

  const ListPlan plan_;
  mutable std::mutex mutex_;
  RemoteTree tree_;
  std::deque<Work> left_;     // not asked for
  std::size_t unlisted_ = 1;  // directories that are not done: those, and those that are being listed
  std::optional<file::Facts> facts_;
  bool is_file_ = false, is_folder_ = false;
  std::uint64_t left_out_ = 0;
};

}  // namespace joust::transfer
