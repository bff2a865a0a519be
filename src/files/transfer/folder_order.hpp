// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

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

}  // namespace joust::transfer
