// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory.hpp"
#include "joust/service.hpp"

namespace joust {

// Keeps the first few different texts of many, such as the complaints of a run. It is plain memory of a fixed
// size: processes may share it, and keeping a text neither allocates, throws nor waits. Any thread, any
// process.
class DistinctTexts {
 public:
  static constexpr std::size_t kKept = 8;
  static constexpr std::size_t kLongest = 240;  // bytes; the rest of a text is cut off

  void keep(std::string_view text);
  std::vector<std::string> all() const;

 private:
  enum class State : std::uint8_t { free, written, ready };
  struct Place {
    std::atomic<State> state{State::free};
    std::uint8_t size = 0;
    std::array<char, kLongest> text{};
  };
  std::array<Place, kKept> places_{};
};

// The counts of all connections of a run whose messages travel in datagrams.
struct DatagramCounts {
  std::uint64_t expected = 0;      // by their numbers, and by the peers' final counts
  std::uint64_t received = 0;      // each counted once
  std::uint64_t lost = 0;          // expected, and not received
  std::uint64_t duplicated = 0;    // dropped: already received, or too old to know
  std::uint64_t out_of_order = 0;  // received after later ones
  std::uint64_t foreign = 0;       // dropped: of no connection, or of another protocol
  std::uint64_t truncated = 0;     // dropped: incomplete, or changed on the way
  std::uint64_t kernel_drops = 0;  // by the kernel, for want of room in the socket's buffer
  std::uint64_t not_sent = 0;      // refused by the kernel, and dropped
  std::uint64_t unreachable = 0;   // errors reported by the network (ICMP) or a firewall
};

// An engine's counts during a run, for the results. All methods: any thread, and any process that was forked
// since, because the counts are shared with it. The counting methods do not throw: without memory for the
// text, the failure is still counted.
class Tally {
  struct Books {
    std::atomic<std::uint64_t> opened{0}, unopened{0}, received{0}, sent{0};
    std::array<std::atomic<std::uint64_t>, kStages> by_stage{};
    std::array<std::atomic<std::uint64_t>, sizeof(DatagramCounts) / sizeof(std::uint64_t)> datagrams{};
    DistinctTexts complaints{}, notes{}, missing{};
  };
  SharedMemory<Books> books_{};

 public:
  std::atomic<std::uint64_t>& opened = books_->opened;      // connections that got a session
  std::atomic<std::uint64_t>& unopened = books_->unopened;  // connections that failed without a session
  std::atomic<std::uint64_t>& received = books_->received;  // bytes, of closed connections
  std::atomic<std::uint64_t>& sent = books_->sent;          // bytes, of closed connections

  // Counts a failure by its stage; keeps descriptions of the first few different ones.
  void failed(const Failure& failure) noexcept;
  // Counts an input that the session complained about, by the stage verify. For destructors, which may not
  // even copy a text.
  void violated(std::string_view complaint) noexcept;
  // Counts the failure of a connection without a session.
  void not_opened(const Failure& failure) noexcept;
  std::uint64_t failures(Stage stage) const {
    return books_->by_stage[static_cast<std::size_t>(stage)].load();
  }
  std::uint64_t failures() const;

  void add(const DatagramCounts& counts) noexcept;
  DatagramCounts datagrams() const;
  // The same counts, for the results. Without numbers nobody knows which datagrams are missing.
  ResultGroup datagrams_group(bool numbered = true) const;

  // Keeps a message for people about this run ("the accept queue was left full 3 times"), once for each text.
  void note(std::string_view text) noexcept { books_->notes.keep(text); }

  // Keeps a kernel feature that the engine had to do without ("multishot receive"), once for each feature.
  void missing(std::string_view feature) noexcept { books_->missing.keep(feature); }

  std::vector<std::string> complaints() const { return books_->complaints.all(); }
  std::vector<std::string> notes() const { return books_->notes.all(); }
  std::vector<std::string> missing() const { return books_->missing.all(); }
};

// Returns the failure of a connection by an exception on this side: the exception's errno, if any, and its
// message.
Failure failure_of(const std::exception& error) noexcept;

// Describes a failure: "connect 127.0.0.1:1: Connection refused", "receive: Connection reset by peer",
// "verify: a line is too long".
std::string describe(const Failure& failure);

}  // namespace joust
