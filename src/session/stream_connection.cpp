// SPDX-License-Identifier: MIT
#include "session/stream_connection.hpp"

#include <algorithm>
#include <array>

namespace joust {

StreamConnection::StreamConnection(std::unique_ptr<Session> session, const Limits& limits, Tally& tally,
                                   Time now)
    : session_(std::move(session)), limits_(limits), tally_(tally), last_progress_(now) {
  tally_.opened.fetch_add(1, std::memory_order_relaxed);
  session_->on_open(now);
}

StreamConnection::~StreamConnection() {
  tally_.received.fetch_add(received_, std::memory_order_relaxed);
  tally_.sent.fetch_add(sent_, std::memory_order_relaxed);
}

// Gives the session as much of `chunk` as it wants.
std::size_t StreamConnection::offer(Bytes chunk, Time now) {
  std::size_t taken = 0;
  while (taken < chunk.size() && session_->want() == Want::bytes)
    taken += session_->on_bytes(chunk.subspan(taken), now);
  // A session that has ended and wants no more is not given the rest: it is read only to be thrown away.
  return shut_ ? chunk.size() : taken;
}

void StreamConnection::received(Bytes chunk, Time now) {
  received_ += chunk.size();
  last_progress_ = now;
  offer_held(now);
  const std::size_t taken = held_.empty() ? offer(chunk, now) : 0;
  held_.insert(held_.end(), chunk.begin() + static_cast<std::ptrdiff_t>(taken), chunk.end());
}

void StreamConnection::offer_held(Time now) {
  if (!held_.empty()) {
    const std::size_t taken = offer(held_, now);
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(taken));
  }
  if (held_.empty() && peer_finished_ && !told_finished_) {
    told_finished_ = true;
    session_->on_peer_finished(now);
  }
}

void StreamConnection::peer_finished(Time now) {
  peer_finished_ = true;
  last_progress_ = now;
  offer_held(now);
}

void StreamConnection::sent(std::size_t n, Time now) {
  sent_ += n;
  last_progress_ = now;
  session_->consumed(n);
  session_->released(n);
  if (!held_.empty()) offer_held(now);
}

void StreamConnection::shut_down(Time now) {
  shut_ = true;
  shut_at_ = now;
  offer_held(now);
}

void StreamConnection::failed(const Failure& failure, Time now) {
  if (ended_) return;
  ended_ = true;
  tally_.failed(failure);
  session_->on_failure(failure, now);
}

void StreamConnection::on_time(Time now) {
  if (ended_) return;
  if (const auto due = session_->deadline(); due && now >= *due) {
    session_->on_deadline(now);
    offer_held(now);
  }
  if (shut_) {
    // The peer had its time to end too; it was told all we had to say, so this is no failure.
    if (now >= shut_at_ + limits_.linger) ended_ = true;
  } else if (now >= last_progress_ + limits_.idle) {
    failed({Stage::timeout, 0, "no byte moved for the idle limit"}, now);
  }
}

void StreamConnection::drain(Time now) {
  if (ended_) return;
  session_->on_drain(now);
  offer_held(now);
}

void StreamConnection::refresh(Time now) {
  if (!ended_) offer_held(now);
}

bool StreamConnection::wants_input() const {
  if (ended_ || peer_finished_) return false;
  return shut_ || (held_.empty() && session_->want() == Want::bytes);
}

std::size_t StreamConnection::output(std::span<iovec> into) const {
  static constexpr std::size_t kMost = 16;
  if (ended_ || shut_) return 0;
  std::array<Segment, kMost> segments;
  const std::size_t count = session_->output(std::span(segments).first(std::min(into.size(), kMost)));
  for (std::size_t i = 0; i < count; ++i)
    into[i] = {const_cast<std::byte*>(segments[i].bytes.data()), segments[i].bytes.size()};
  return count;
}

bool StreamConnection::has_output() const {
  iovec first{};
  return output({&first, 1}) > 0;
}

bool StreamConnection::wants_shutdown() const {
  return !ended_ && !shut_ && !peer_finished_ && session_->finished() && !has_output();
}

bool StreamConnection::ended() const {
  if (ended_) return true;
  if (!peer_finished_) return false;
  return shut_ || (session_->finished() && !has_output());
}

std::optional<Time> StreamConnection::deadline() const {
  if (shut_) return shut_at_ + limits_.linger;
  const Time idle = last_progress_ + limits_.idle;
  const auto due = session_->deadline();
  return due ? std::min(*due, idle) : idle;
}

}  // namespace joust
