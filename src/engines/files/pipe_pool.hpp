// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "connection/tally.hpp"
#include "joust/time.hpp"

namespace joust {

// Pipes for splice(), shared by all threads of an engine. A thread borrows one only while bytes go through
// it, so an idle connection has none. Pipes are made on demand. Any thread may call all methods.
//
// A pipe is worth its two system calls only if it is large. The sizes are limited for each user
// (fs.pipe-user-pages-soft, fs.pipe-max-size); beyond the limit the kernel makes a small pipe without an
// error. Such a pipe is not used, and a note in the results says so.
class PipePool {
 public:
  struct Pipe {
    Fd from, into;
    std::size_t bytes = 0;  // its capacity
  };
  static constexpr std::size_t kPipeBytes = 1 << 20;  // the capacity that is requested
  static constexpr std::size_t kLeastBytes = 64 << 10;
  static constexpr std::size_t kMostLent = 32;  // each may hold kPipeBytes of kernel memory

  explicit PipePool(Tally& tally);

  // Returns false for a while after no pipe could be made, and for good after refuse().
  bool is_open() const;

  // Returns an empty pipe, or nothing if none is available.
  std::optional<Pipe> borrow();
  // Takes a pipe back. A pipe that is not empty is closed, so that no peer's bytes get into another peer's
  // file.
  void give_back(Pipe pipe, bool is_empty);

  // Closes the pool for good: the kernel cannot splice between the sockets and files of this run.
  void refuse();

 private:
  std::optional<Pipe> make();
  void close_for_a_while(std::string_view why);

  Tally& tally_;
  std::atomic<bool> refused_{false};
  std::atomic<bool> closed_{false};
  std::atomic<Time> open_again_{};
  std::mutex mutex_;
  std::vector<Pipe> idle_;
  std::size_t lent_ = 0;
};

}  // namespace joust
