// SPDX-License-Identifier: MIT
#include "files/transfer/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "connection/tally.hpp"

namespace joust::transfer {
namespace {

constexpr Duration kFirstPause = std::chrono::milliseconds(50);
constexpr unsigned kMostDoublings = 5;
constexpr Duration kIdlePause = std::chrono::seconds(1);
constexpr Duration kUntilWanted = std::chrono::hours(1);  // an announcement ends the wait earlier
constexpr Duration kTogether = std::chrono::seconds(2);   // shorter than the wait for any answer

}  // namespace

void Transfer::connected() {
  ++counts_.connections;
  const std::lock_guard lock(mutex_);
  reached();
}

// Counts the connections refused so far as retries: from now on they are dialled again.
void Transfer::reached() {
  if (!std::exchange(was_reached_, true)) counts_.retries += waiting_;
}

void Transfer::answered() {
  if (!was_answered()) was_answered_.store(true, std::memory_order_relaxed);
}

// Announces the first connection that is heard: the others then have less time.
void Transfer::heard() {
  if (heard_++ == 0) announce();
}

bool Transfer::is_first(const void* session) {
  const void* first = nullptr;
  return heard_ == 0 && (first_session_.compare_exchange_strong(first, session) || first == session);
}

void Transfer::no_longer_first(const void* session) {
  first_session_.compare_exchange_strong(session, nullptr);
}

std::string Transfer::words_on(const Failure& failure) const {
  if (was_answered()) return describe(failure);
  if (failure.stage == Stage::timeout)
    return fmt::format("{}: {}{}", server_.address, failure.detail, server_.if_silent);
  if (failure.stage == Stage::verify) return server_.address + ": " + failure.detail;
  const bool is_closed = failure.stage == Stage::receive || failure.stage == Stage::send;
  return is_closed ? server_.address + ": " + describe(failure) + server_.if_closed : describe(failure);
}

// True if a retry cannot help: the peer has never understood the protocol, or has another token.
bool Transfer::is_final(const Failure& failure) const {
  return failure.stage == Stage::verify && !was_answered();
}

// A connection that is refused before any was open does not count as lost: the address is wrong, or no server
// listens there. As long as another connection may be opened, one refusal says little: the server may have
// been full. A guarded connection that is lost in the handshake is reported here too, because its session
// does not know of it yet.
void Transfer::not_opened(const Failure& failure, Time now) {
  const bool dialling =
      failure.stage == Stage::resolve || failure.stage == Stage::connect || failure.stage == Stage::local;
  if (!dialling) return lost(failure, false, now);
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = !was_reached_;
    if (first && most_retries_ > 0) ++waiting_;
    if (first && ++refused_ < dials_) return;
  }
  if (!first) return lost(failure, false, now);
  complain(describe(failure));
  end();
}

// True if a connection is silent after an earlier one was. Connections that wait at the same time are silent
// together and count as one; a connection that was dialled after that is silent again.
bool Transfer::silent_again(Time now) {
  if (!first_silent_) first_silent_ = now;
  return now >= *first_silent_ + kTogether;
}

// Connections that are lost together count once: those of a server that ends, and those that it refuses until
// it runs again. A peer that accepts twice and never answers is no server of this protocol.
void Transfer::lost(const Failure& failure, bool idle, Time now) {
  if (over()) return;
  {
    const std::lock_guard lock(mutex_);
    reached();
    const bool is_silent = failure.stage == Stage::timeout && !was_answered() && silent_again(now);
    const bool again = !idle && now >= next_dial_;
    if (!is_final(failure) && !is_silent && (!again || in_a_row_ < most_retries_)) {
      if (idle) next_dial_ = std::max(next_dial_, now + kIdlePause);
      if (again) next_dial_ = now + kFirstPause * (1U << std::min<unsigned>(in_a_row_++, kMostDoublings));
      ++waiting_;
      ++counts_.retries;
      return;
    }
  }
  complain(words_on(failure));
  end();
}

std::optional<Redial> Transfer::redial(Time now) {
  if (over()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (waiting_ == 0) return dial_wanted(now);
  if (!was_reached_) return Redial{.at = now + kFirstPause};  // a connection may be open by then
  if (now >= next_dial_) {
    --waiting_;
    return Redial{.at = now};
  }
  return Redial{.at = next_dial_};
}

std::optional<Redial> Transfer::dial_wanted(Time now) {
  if (vacant_ == 0) return std::nullopt;
  if (wanted_ == 0) return Redial{.at = now + kUntilWanted};
  --wanted_;
  --vacant_;
  return Redial{.at = now};
}

void Transfer::dial_more(std::size_t count) {
  const std::lock_guard lock(mutex_);
  wanted_ = std::min(vacant_, wanted_ + count);
}

void Transfer::complain(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(complaints_, text) != complaints_.end()) return;
  if (complaints_.size() < kMostComplaints)
    complaints_.push_back(text);
  else
    ++more_complaints_;
}

std::vector<std::string> Transfer::complaints() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all = complaints_;
  if (more_complaints_ > 0) all.push_back(fmt::format("and {} more", more_complaints_));
  return all;
}

void Transfer::end() {
  over_.store(true, std::memory_order_release);
  announce();
}

}  // namespace joust::transfer
