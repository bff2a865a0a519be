// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "files/store/storage.hpp"
#include "joust/service.hpp"
#include "joust/time.hpp"

// The file tool's client side: services and sessions that speak the file protocol over any stream engine.
namespace joust::transfer {

// The most bytes of a large file that one connection takes at a time.
inline constexpr std::uint64_t kRangeBytes = 8 << 20;

// The pause before a request is repeated, after an answer that time alone can change.
inline constexpr Duration kAskAgain = std::chrono::milliseconds(250);

// The progress of a transfer. Written by its sessions, read by the program that shows it.
struct Counts {
  std::atomic<std::uint64_t> total{0};  // bytes of all files, as far as they are known
  std::atomic<std::uint64_t> there{0};  // bytes of them that an earlier attempt left
  std::atomic<std::uint64_t> moved{0};  // bytes of them that this attempt moved
  std::atomic<std::uint64_t> sent{0};   // bytes that this attempt sent, with all of the protocol
  std::atomic<std::uint64_t> lost{0};   // bytes of this attempt lost with connections: they are sent again
  std::atomic<std::uint64_t> discarded{0};  // bytes of an earlier attempt, of another source or damaged
  std::atomic<std::uint64_t> files{0}, skipped{0}, failed{0};  // done
  std::atomic<std::uint64_t> folders{0};                       // made
  std::atomic<std::uint64_t> connections{0}, retries{0};
};

// The address of the server, and the likely reasons if it never answers. For people.
struct ServerHints {
  std::string address = "the server";
  std::string if_silent{}, if_closed{};  // appended to the failure
};

// The numbers of connections of a transfer: dialled at the start, and dialled later if needed.
struct DialPlan {
  std::size_t first = 1, later = 0;
};

// The state that the connections of one transfer share: whether it goes on, and which lost connections are
// dialled again. Any thread.
class Transfer : public Service {
 public:
  // The transfer is given up after so many losses in a row, without progress (progressed()) between them.
  explicit Transfer(unsigned most_retries) : most_retries_(most_retries) {}

  Publications* publications() override { return &publications_; }
  // Sets how many connections are dialled. Call before the first connection.
  void expect(DialPlan dials, ServerHints server = {}) {
    dials_ = dials.first;
    vacant_ = dials.later;
    server_ = std::move(server);
  }
  std::size_t dials() const { return dials_; }
  void not_opened(const Failure& failure, Time now) override;
  std::optional<Redial> redial(Time now) override;

  const Counts& counts() const { return counts_; }
  // True if nothing is left to be done, or the transfer was given up.
  bool over() const { return over_.load(std::memory_order_acquire); }
  // The failures, for people; empty if none happened.
  std::vector<std::string> complaints() const;
  // Bytes of incomplete files that are left for the next attempt.
  virtual std::uint64_t kept() const { return 0; }
  // True if the same transfer could do nothing another time, although something is missing.
  virtual bool is_in_vain() const { return false; }

  // For sessions.
  Counts& count() { return counts_; }
  void connected();
  // Notes that a connection has had an answer in this protocol: the server exists.
  void answered();
  // Count the open connections on which the server has sent something. Other connections may be waiting to be
  // accepted.
  void heard();
  void heard_last() { --heard_; }
  bool is_any_heard() const { return heard_ > 0; }
  // True for one session at a time, as long as no connection is heard.
  bool is_first(const void* session);
  void no_longer_first(const void* session);
  bool was_answered() const { return was_answered_.load(std::memory_order_relaxed); }
  void moved(std::uint64_t bytes) { counts_.moved.fetch_add(bytes, std::memory_order_relaxed); }
  // Notes that more is stored for good than ever before, and forgets the losses up to now. Bytes alone are no
  // progress, because a server may end each connection before they count.
  void progressed() { in_a_row_ = 0; }
  // Reports a lost connection. `idle`: it had nothing to do, so that the server may have closed it on
  // purpose.
  void lost(const Failure& failure, bool idle, Time now);
  void complain(const std::string& text);  // about one file: the others go on
  void end();                              // ends the sessions
  void announce() { publications_.announce(); }

 protected:
  // Asks for so many further connections. An announcement has to follow.
  void dial_more(std::size_t count);

 private:
  static constexpr std::size_t kMostComplaints = 20;

  void reached();                               // under the lock
  std::optional<Redial> dial_wanted(Time now);  // under the lock
  bool silent_again(Time now);                  // under the lock
  bool is_final(const Failure& failure) const;
  std::string words_on(const Failure& failure) const;

  const unsigned most_retries_;
  Publications publications_;
  Counts counts_;
  std::atomic<bool> over_{false};
  mutable std::mutex mutex_;
  std::vector<std::string> complaints_;
  std::uint64_t more_complaints_ = 0;  // complaints that are only counted
  unsigned waiting_ = 0;               // lost connections that are to be dialled again
  std::atomic<unsigned> in_a_row_{0};
  std::atomic<bool> was_answered_{false};
  std::atomic<unsigned> heard_{0};
  std::atomic<const void*> first_session_{nullptr};
  std::size_t dials_ = 1;
  std::size_t vacant_ = 0;  // connections that may be dialled later
  std::size_t wanted_ = 0;  // of vacant_, those that are to be dialled now
  ServerHints server_;
  std::size_t refused_ = 0;           // connections refused before one was open
  std::optional<Time> first_silent_;  // when a connection was lost without an answer
  bool was_reached_ = false;
  Time next_dial_{};
};

// The ranges of one file that have not been moved. A free connection takes the next one, so that a slow
// connection delays no other. One thread at a time.
class RangesLeft {
 public:
  // The largest number of ranges into which so many bytes are divided.
  static std::uint64_t most_of(std::uint64_t bytes) {
    return bytes / kLeastRange + (bytes % kLeastRange > 0 ? 1 : 0);
  }

  RangesLeft() = default;
  // With many connections each range is smaller: the digest is made in the order of the bytes, and would
  // otherwise fall behind by all ranges that are under way.
  RangesLeft(std::uint64_t size, std::size_t connections)
      : size_(size), left_(size), most_(connections > kFew ? kRangeBytes / 2 : kRangeBytes) {}

  // Starts after the first `there` bytes: all others are left.
  void begin(std::uint64_t there) {
    first_ = next_ = there;
    left_ = size_ - there;
    returned_.clear();
  }

  std::optional<ByteRange> take() {
    if (!returned_.empty()) {
      ByteRange& range = returned_.back();
      const ByteRange part{range.offset, std::min(range.size, portion_)};
      range = {part.end(), range.size - part.size};
      if (range.size == 0) returned_.pop_back();
      return part;
    }
    if (next_ == size_) return std::nullopt;
    // An interruption loses the incomplete ranges of all connections. Ranges grow with the bytes taken, so
    // that the loss is small beside them, also early on and on slow connections.
    const std::uint64_t sixteenth = (next_ - first_) / 16 & ~(kLeastRange - 1);
    const std::uint64_t most = std::min(std::clamp(sixteenth, kLeastRange, most_), portion_);
    const ByteRange range{next_, std::min(most, size_ - next_)};
    next_ = range.end();
    return range;
  }
  // Takes back a range that was lost with its connection. The next ranges are smaller: on a link that fails
  // often, smaller ones may get through.
  void give_back(ByteRange range) {
    returned_.push_back(range);
    portion_ = std::max(kLeastPortion, std::min(portion_, range.size / 2));
  }
  void finish(ByteRange range) {
    left_ -= range.size;
    portion_ = std::min(kRangeBytes, portion_ * 2);
  }

  bool any() const { return !returned_.empty() || next_ < size_; }
  bool complete() const { return left_ == 0; }
  std::uint64_t done() const { return size_ - left_; }  // bytes

 private:
  static constexpr std::uint64_t kLeastRange = 1 << 20;     // bytes
  static constexpr std::uint64_t kLeastPortion = 64 << 10;  // bytes
  static constexpr std::size_t kFew = 8;                    // connections

  std::uint64_t size_ = 0;
  std::uint64_t first_ = 0;
  std::uint64_t next_ = 0;  // the first byte that was never handed out
  std::uint64_t left_ = 0;  // bytes that are not moved
  std::uint64_t most_ = kRangeBytes;
  std::uint64_t portion_ = kRangeBytes;  // limit of a range, after losses
  std::vector<ByteRange> returned_;
};

// The bytes per second of all connections together. Any thread.
class RateLimit {
 public:
  explicit RateLimit(std::uint64_t bytes_per_s) : bytes_per_s_(bytes_per_s) {}

  bool applies() const { return bytes_per_s_ > 0; }
  // The bytes that may be sent at a time: those of a twentieth of a second, but at most `most`.
  std::uint64_t portion(std::uint64_t most = 1 << 20) const {
    return std::clamp<std::uint64_t>(bytes_per_s_ / 20, 1, most);
  }

  // Returns when so many bytes may be sent; they count from now on.
  Time reserve(std::uint64_t bytes, Time now) {
    const std::lock_guard lock(mutex_);
    const Time at = std::max(next_, now);
    next_ = at + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(
                     static_cast<double>(bytes) / static_cast<double>(bytes_per_s_)));
    return at;
  }

 private:
  const std::uint64_t bytes_per_s_;
  std::mutex mutex_;
  Time next_{};
};

}  // namespace joust::transfer
