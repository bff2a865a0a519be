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

// Pipes for splice(), shared by all threads of an engine: a thread has one only while bytes go through it,
// and an idle connection has none. Made when they are wanted. All methods: any thread.
//
// A pipe is worth its two system calls only if it holds much. How much it may hold is limited for each user
// (fs.pipe-user-pages-soft, fs.pipe-max-size), and beyond that the kernel makes a small pipe without an
// error. Such a pipe is not used, and the results say so.
class PipePool {
 public:
  struct Pipe {
    Fd from, into;
    std::size_t bytes = 0;  // that it holds
  };
  static constexpr std::size_t kPipeBytes = 1 << 20;  // wanted
  static constexpr std::size_t kLeastBytes = 64 << 10;
  static constexpr std::size_t kMostLent = 32;  // each can hold that much of the kernel's memory

  explicit PipePool(Tally& tally);

  // False for a while after there was no pipe to be had, and for good once refuse() has been called.
  bool is_open() const;

  // An empty pipe, if there is one to be had.
  std::optional<Pipe> borrow();
  // The end of a loan. What is not empty is closed: no peer's bytes may get into another's file.
  void give_back(Pipe pipe, bool is_empty);

  // The kernel does not splice between the sockets and files of this run.
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
