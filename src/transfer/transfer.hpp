// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "joust/service.hpp"

// The file tool's client side: services and sessions that speak the file protocol over any stream engine.
namespace joust::transfer {

inline constexpr std::uint64_t kRangeBytes =
    8 << 20;  // of a large file: the most that one connection takes at a time

// After an answer that time alone can change.
inline constexpr Duration kAskAgain = std::chrono::milliseconds(250);

// How far a transfer is. Written by its sessions, read by whoever shows it.
struct Counts {
  std::atomic<std::uint64_t> total{0};      // bytes of all files, as far as they are known
  std::atomic<std::uint64_t> there{0};      // of them, left by an earlier attempt
  std::atomic<std::uint64_t> moved{0};      // of them, by this one
  std::atomic<std::uint64_t> sent{0};       // by this one, with all that is said beside
  std::atomic<std::uint64_t> lost{0};       // by this one, with connections: they come again
  std::atomic<std::uint64_t> discarded{0};  // bytes of an earlier attempt: of another source, or damaged
  std::atomic<std::uint64_t> files{0}, skipped{0}, failed{0};  // done
  std::atomic<std::uint64_t> folders{0};                       // made
  std::atomic<std::uint64_t> connections{0}, retries{0};
};

// Who is asked, and what may be the matter where nobody has ever answered. For people.
struct Asked {
  std::string address = "the server";
  std::string if_silent{}, if_closed{};  // put behind what has happened
};

// The connections of a transfer: those that are dialled at the start, and those that may follow.
struct DialPlan {
  std::size_t first = 1, later = 0;
};

// What the connections of one transfer share: whether it goes on, and which lost connections are dialled
// again. Any thread.
class Transfer : public Service {
 public:
  // After so many losses in a row, without a byte of a file between them, the transfer is given up.
  explicit Transfer(unsigned most_retries) : most_retries_(most_retries) {}

  Publications* publications() override { return &publications_; }
  // Before the first connection: how many are dialled.
  void expect(DialPlan dials, Asked asked = {}) {
    dials_ = dials.first;
    vacant_ = dials.later;
    asked_ = std::move(asked);
  }
  std::size_t dials() const { return dials_; }
  void not_opened(const Failure& failure, Time now) override;
  std::optional<Redial> redial(Time now) override;

  const Counts& counts() const { return counts_; }
  // Nothing is left to be done, or the transfer was given up.
  bool over() const { return over_.load(std::memory_order_acquire); }
  // What went wrong, for people; empty if nothing did.
  std::vector<std::string> complaints() const;
  // Bytes of incomplete files that are left for the next attempt.
  virtual std::uint64_t kept() const { return 0; }
  // Nothing is left that the same transfer could do another time, although something is missing.
  virtual bool is_in_vain() const { return false; }

  // For sessions.
  Counts& count() { return counts_; }
  void connected();
  // Some connection has had an answer in this protocol: there is a server.
  void answered();
  // Connections on which the server has said something, and that are not gone. Others may be waiting to be
  // accepted.
  void heard();
  void heard_last() { --heard_; }
  bool is_any_heard() const { return heard_ > 0; }
  // True for one session at a time, as long as no connection is heard.
  bool leads(const void* session);
  void leads_no_more(const void* session);
  bool was_answered() const { return was_answered_.load(std::memory_order_relaxed); }
  void moved(std::uint64_t bytes) { counts_.moved.fetch_add(bytes, std::memory_order_relaxed); }
  // More is there for good than ever before: what was lost up to now is forgotten. Bytes alone are no
  // progress, because a server may end each connection before they count.
  void progressed() { in_a_row_ = 0; }
  // `idle`: it had nothing to do, so that a server may well have closed it.
  void lost(const Failure& failure, bool idle, Time now);
  void complain(const std::string& text);  // of one file: the others go on
  void end();                              // the sessions end
  void announce() { publications_.announce(); }

 protected:
  // So many further connections have something to do. An announcement has to follow.
  void dial_more(std::size_t count);

 private:
  static constexpr std::size_t kMostComplaints = 20;

  void reached();               // under the lock
  std::optional<Redial> dial_wanted(Time now);  // likewise
  bool silent_again(Time now);  // likewise
  bool is_final(const Failure& failure) const;
  std::string words_on(const Failure& failure) const;

  const unsigned most_retries_;
  Publications publications_;
  Counts counts_;
  std::atomic<bool> over_{false};
  mutable std::mutex mutex_;
  std::vector<std::string> complaints_;
  std::uint64_t more_complaints_ = 0;  // that are not told one by one
  unsigned waiting_ = 0;               // lost connections that are to be dialled again
  std::atomic<unsigned> in_a_row_{0};
  std::atomic<bool> was_answered_{false};
  std::atomic<unsigned> heard_{0};
  std::atomic<const void*> leader_{nullptr};
  std::size_t dials_ = 1;
  std::size_t vacant_ = 0;  // connections that may be dialled later,
  std::size_t wanted_ = 0;  // and those of them that are to be dialled now
  Asked asked_;
  std::size_t refused_ = 0;           // of them, before one was open
  std::optional<Time> first_silent_;  // when a connection was lost without an answer
  bool was_reached_ = false;
  Time next_dial_{};
};

}  // namespace joust::transfer
