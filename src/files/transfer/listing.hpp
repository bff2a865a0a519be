// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "files/protocol/wire.hpp"
#include "files/store/folder_listing.hpp"
#include "files/transfer/transfer.hpp"

// The entries of a server's directories, as the server lists them. Any person may run a server, so all of it
// is checked.
namespace joust::transfer {

// A file or directory; `name` is the path below the directory that was asked for: "a/b".
using RemoteItem = FolderEntry;

// The limits of the lists that are accepted from one server.
struct TreeLimits {
  std::size_t entries = 1'000'000;          // files and directories
  std::size_t depth = 100;                  // parts of a name
  std::uint64_t name_bytes = 256ULL << 20;  // bytes of all names together
  std::uint64_t bytes = 1ULL << 62;         // bytes of all files together
};

// The items of the tree, as they become known. One thread at a time.
class RemoteTree {
 public:
  // `top`: the server's name of the directory that was asked for; empty: the server's own directory.
  RemoteTree(std::string top, const TreeLimits& limits) : top_(std::move(top)), limits_(limits) {}

  // Returns the server's name of an item below the top.
  std::string remote_name(std::string_view below) const;

  // Adds all entries that are directly in one directory. Returns an objection, for people, or an empty text.
  // It objects to a name that leads elsewhere, to a name that occurs twice, and to more than the limits
  // allow. After an objection nothing in the tree counts.
  std::string add(const std::string& folder, std::vector<FolderEntry> entries);

  // The entries of a directory that have arrived before its list is complete.
  struct Incoming {
    std::size_t entries = 0;
    std::uint64_t name_bytes = 0;
  };
  // Checks further entries of an incomplete list. Returns an objection, or an empty text. The entries count
  // until forget().
  std::string check_part(const std::string& folder, std::span<const FolderEntry> part, Incoming& incoming);
  void forget(Incoming& incoming);

  const std::vector<RemoteItem>& items() const { return items_; }
  // Takes the items out. Each directory precedes its entries, and the entries of a directory are in the order
  // of their names.
  std::vector<RemoteItem> take_sorted();

 private:
  std::string display_name(const std::string& folder) const;  // for people
  std::string words_on(const std::string& folder, std::string_view what) const;
  std::string objection_to_size(const std::string& folder, std::size_t entries,
                                std::uint64_t name_bytes) const;
  std::string objection_to_entry(const std::string& folder, const FolderEntry& entry) const;

  const std::string top_;
  const TreeLimits limits_;
  std::vector<RemoteItem> items_;
  std::uint64_t name_bytes_ = 0, bytes_ = 0;
  Incoming incoming_;  // the sum over all directories
};

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
