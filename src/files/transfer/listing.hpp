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

#include "files/protocol/wire.hpp"
#include "files/transfer/remote_tree.hpp"
#include "files/transfer/transfer.hpp"

namespace joust::transfer {

// The directory to be listed, and the limits of its list.
struct ListPlan {
  std::string name{};      // a directory, or a file, on the server; empty: the server's own directory
  bool recursive = false;  // lists everything below it too
  bool only_kind = false;  // asks only whether it is a directory, a file, or neither
  unsigned most_retries = 8;
  TreeLimits limits{};
};

// Lists the directories of a server. It is over when each of them has been listed, or refused. The list of a
// directory counts when it has arrived completely and without an objection.
class Listing : public Transfer {
 public:
  explicit Listing(const ListPlan& plan);

  std::unique_ptr<Session> open(const ConnectionInfo& info) override;

  const ListPlan& plan() const { return plan_; }
  // Call the following once the listing is over.
  bool is_file() const { return is_file_; }      // the name is that of a file: only its facts are known
  bool is_folder() const { return is_folder_; }  // set with `only_kind` only
  const std::optional<file::Facts>& facts() const { return facts_; }  // facts of the name that was asked for
  std::vector<RemoteItem> take_items() { return tree_.take_sorted(); }
  std::uint64_t left_out() const { return left_out_; }  // names on the server that cannot be fetched

  // For sessions. Any thread.
  struct Work {
    std::string folder{};      // below the name that was asked for; empty: that name
    bool may_be_file = false;  // the name is asked for as a file
    RemoteTree::Incoming incoming{};
  };
  std::optional<Work> next();
  void give_back(Work work);
  // Checks some entries of a directory; more may follow. Returns false after an objection: the listing is
  // over then.
  bool may_go_on(Work& work, std::span<const FolderEntry> part);
  void listed(Work work, const file::Facts& facts, std::vector<FolderEntry> entries, std::uint64_t left_out);
  void is_a_file(const file::Facts& facts);
  void refused(Work work, const FileRefusal& refusal);

 private:
  bool is_top(const Work& work) const { return work.folder.empty(); }
  bool tells_kind(const FileRefusal& refusal);
  void done();  // ends one directory
  void give_up(const std::string& why);

  const ListPlan plan_;
  mutable std::mutex mutex_;
  RemoteTree tree_;
  std::deque<Work> left_;     // directories that are not asked for yet
  std::size_t unlisted_ = 1;  // directories that are not done: in left_, or being listed
  std::optional<file::Facts> facts_;
  bool is_file_ = false, is_folder_ = false;
  std::uint64_t left_out_ = 0;
};

}  // namespace joust::transfer
