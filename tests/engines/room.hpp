// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "joust/service.hpp"

namespace joust::test {

// Whatever one member says, all members hear: a log, and a cursor for each of them.
class Room : public Service {
 public:
  explicit Room(std::size_t largest) { log_.reserve(largest); }  // so that shown bytes never move
  std::unique_ptr<Session> open(const ConnectionInfo&) override { return std::make_unique<Member>(*this); }
  Publications* publications() override { return &publications_; }

 private:
  class Member : public Session {
   public:
    explicit Member(Room& room) : room_(room) {}
    std::size_t on_bytes(Bytes chunk, Time) override {
      room_.say(chunk);
      return chunk.size();
    }
    void on_peer_finished(Time) override { over_ = true; }
    void on_drain(Time) override { over_ = true; }
    std::size_t output(std::span<Segment> into) const override {
      const Bytes rest = room_.since(cursor_);
      if (rest.empty() || into.empty()) return 0;
      into.front().bytes = rest;
      return 1;
    }
    bool finished() const override { return over_; }
    void consumed(std::size_t n) override { cursor_ += n; }
    void released(std::size_t) override {}

   private:
    Room& room_;
    std::size_t cursor_ = 0;
    bool over_ = false;
  };

  void say(Bytes bytes) {
    {
      const std::lock_guard lock(mutex_);
      log_.append(as_text(bytes));
    }
    publications_.announce();
  }
  Bytes since(std::size_t cursor) const {
    const std::lock_guard lock(mutex_);
    return as_bytes(std::string_view(log_)).subspan(cursor);
  }

  Publications publications_;
  mutable std::mutex mutex_;
  std::string log_;
};

}  // namespace joust::test
