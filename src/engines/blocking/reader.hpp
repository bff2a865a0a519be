// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/fd.hpp"
#include "base/memory.hpp"
#include "joust/bytes.hpp"

namespace joust {

// Bytes on their way from one process to another, in memory that both share: one process writes, the other
// takes. Neither waits here. A side that finds nothing to do records that it is about to sleep, looks once
// more, and sleeps. The other side learns from put() or take() that it has to wake it. All numbers are
// sequentially consistent, because each side writes one of them and then reads the other's.
class Ring {
 public:
  static constexpr std::size_t kBytes = 256 << 10;
  static constexpr int kOpen = -1;

  // Called by the writing side: returns where the next bytes go, in one piece; empty if the ring is full.
  std::span<std::byte> room() {
    const std::uint64_t free = kBytes - (written_ - taken_);
    const std::size_t at = written_ % kBytes;
    return std::span(bytes_).subspan(at, std::min<std::uint64_t>(free, kBytes - at));
  }
  // Adds n bytes. Returns true if the taking side sleeps and is to be woken. So does end().
  bool put(std::size_t n) {
    written_ += n;
    return taker_sleeps_ && taker_sleeps_.exchange(false);
  }
  bool end(int error) {  // 0: the stream has ended; or an errno
    end_ = error;
    return taker_sleeps_ && taker_sleeps_.exchange(false);
  }
  // Call it before a sleep. Returns false if the ring has room after all.
  bool writer_may_sleep() {
    writer_sleeps_ = true;
    return room().empty();
  }

  // Called by the taking side: returns the oldest bytes, in one piece.
  Bytes content() const {
    const std::size_t at = taken_ % kBytes;
    return std::span(bytes_).subspan(at, std::min<std::uint64_t>(written_ - taken_, kBytes - at));
  }
  // Returns kOpen, or how the stream ended; the content before that comes first.
  int ending() const { return end_; }
  bool has_news() const { return end_ != kOpen || written_ != taken_; }
  // Removes n bytes. Returns true if the writing side sleeps and is to be woken.
  bool take(std::size_t n) {
    taken_ += n;
    return writer_sleeps_ && writer_sleeps_.exchange(false);
  }
  // Call it before a sleep. Returns false if news has come after all.
  bool taker_may_sleep() {
    taker_sleeps_ = true;
    return !has_news();
  }

 private:
  // The numbers of each side are on cache lines of their own, because each side writes its own number for
  // every message.
  alignas(128) std::atomic<std::uint64_t> written_{0};  // bytes since the beginning
  std::atomic<int> end_{kOpen};
  std::atomic<bool> writer_sleeps_{false};
  alignas(128) std::atomic<std::uint64_t> taken_{0};
  std::atomic<bool> taker_sleeps_{false};
  alignas(128) std::array<std::byte, kBytes> bytes_;
};

// The process that reads one socket, for the process that has its session: blocking recv into the ring, and
// nothing else. The child makes system calls only, so it may be forked from a program with several threads.
class Reader {
 public:
  // Makes the socket blocking, and forks. Throws std::system_error if no process can be made; nothing has
  // been received then.
  explicit Reader(int socket);
  ~Reader();  // ends the process
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  Bytes content() const { return ring_->content(); }
  int ending() const { return ring_->ending(); }
  bool has_news() const { return ring_->has_news(); }
  void take(std::size_t n);

  // Call it before a wait for fd(), which becomes readable when news has come. Returns false if news has come
  // already.
  bool may_sleep() { return ring_->taker_may_sleep(); }
  int fd() const { return filled_.get(); }
  void woken();  // fd() has become readable

  // Returns a descriptor that is readable when the process has ended; -1 after reap().
  int process_fd() const { return process_.get(); }
  // Call it when the process has ended. Returns 0 if the process ended by itself, or the signal or exit code
  // that ended it.
  int reap();

 private:
  [[noreturn]] void read(int socket, pid_t parent);

  SharedMemory<Ring> ring_;
  Fd filled_, emptied_;  // eventfds
  pid_t pid_ = 0;
  Fd process_;
};

}  // namespace joust
