// SPDX-License-Identifier: MIT
#include "session/pair.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "connection/stream_connection.hpp"

namespace joust {

Pair::Pair(std::unique_ptr<Session> left, std::unique_ptr<Session> right, Cut cut, Time begin)
    : cut_(std::move(cut)), now_(begin) {
  ends_[0].session = std::move(left);
  ends_[1].session = std::move(right);
  for (End& end : ends_) end.session->on_open(now_);
}

// Takes one piece of what `from` shows.
bool Pair::collect(End& from) {
  std::array<Segment, 3> shown;
  const std::size_t count = from.session->output(shown);
  EXPECT_FALSE(from.finished && count > 0) << "output after its end";
  if (count == 0) return false;
  if (shown[0].in_file()) return collect_file(from, shown[0].file);
  const Bytes first = shown[0].bytes;
  const Bytes piece = first.first(std::clamp<std::size_t>(cut_(first.size()), 1, first.size()));
  from.session->consumed(piece.size());
  from.sent.push_back({piece, std::string(as_text(piece))});
  return true;
}

// A file's bytes are read when they go, so they are on the way as a copy.
bool Pair::collect_file(End& from, const FileRange& range) {
  std::string piece(std::clamp<std::size_t>(cut_(range.size), 1, range.size), '\0');
  const auto read = range.file->read_at(range.offset, std::as_writable_bytes(std::span(piece)));
  if (!read || *read == 0) {
    from.session->files()->on_source_failed(read ? 0 : read.error(), now_);
    return true;
  }
  piece.resize(*read);
  from.session->consumed(piece.size());
  from.sent.push_back({std::nullopt, piece});
  return true;
}

// What was shown must not have moved or changed until it is released, whatever was called since.
bool Pair::deliver(End& from, End& to) {
  bool moved = false;
  for (; !from.sent.empty(); from.sent.pop_front()) {
    const OnTheWay& piece = from.sent.front();
    if (piece.where) {
      EXPECT_EQ(as_text(*piece.where), piece.what) << "changed before it was released";
    }
    to.arrived += piece.what;
    from.session->released(piece.what.size());
    moved = true;
  }
  while (!to.arrived.empty() && to.session->want() != Want::nothing) {
    const std::size_t size = std::clamp<std::size_t>(cut_(to.arrived.size()), 1, to.arrived.size());
    const std::size_t taken = joust::deliver(as_bytes(to.arrived).first(size), *to.session, now_);
    EXPECT_TRUE(taken == size || to.session->want() == Want::nothing) << "left bytes, and wants more";
    to.arrived.erase(0, taken);
    moved = true;
  }
  return moved;
}

bool Pair::carry(End& from, End& to) {
  if (held_) return false;
  bool moved = collect(from);
  moved = deliver(from, to) || moved;
  Segment more;
  if (!from.finished && from.session->finished() && from.session->output({&more, 1}) == 0) {
    from.finished = moved = true;
  }
  if (from.finished && !to.heard_finish && to.arrived.empty()) {
    to.heard_finish = moved = true;
    to.session->on_peer_finished(now_);
  }
  EXPECT_FALSE(from.finished && !from.session->finished()) << "finished() became false again";
  return moved;
}

bool Pair::fire(End& end) {
  const auto due = end.session->deadline();
  if (!due || *due > now_) return false;
  end.session->on_deadline(now_);
  return true;
}

void Pair::settle() {
  constexpr int kMost = 10'000'000;
  for (int i = 0; i < kMost; ++i) {
    bool moved = carry(ends_[0], ends_[1]);
    moved = carry(ends_[1], ends_[0]) || moved;
    moved = fire(ends_[0]) || moved;
    moved = fire(ends_[1]) || moved;
    if (!moved) return;
  }
  FAIL() << "never settles: a deadline that stays in the past?";
}

std::optional<Time> Pair::next_deadline() const {
  std::optional<Time> next;
  for (const End& end : ends_)
    if (const auto due = end.session->deadline()) next = std::min(next.value_or(*due), *due);
  return next;
}

void Pair::pass(Duration time) {
  const Time until = now_ + time;
  settle();
  for (auto due = next_deadline(); due && *due <= until; due = next_deadline()) {
    now_ = std::max(now_, *due);
    settle();
  }
  now_ = until;
  settle();
}

bool Pair::over() const {
  return ends_[0].finished && ends_[1].finished;
}

}  // namespace joust
