// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <span>

#include "joust/service.hpp"

namespace joust::test {

// A client that speaks at intervals, from the moment when all are connected.
class Metronome : public Service {
 public:
  Metronome(std::size_t peers, int beats) : missing_(peers), beats_(beats) {}
  std::unique_ptr<Session> open(const ConnectionInfo&) override { return std::make_unique<Player>(*this); }
  Publications* publications() override { return &publications_; }
  void not_opened(const Failure&, Time now) override {
    ++refused;
    arrived(now);
  }

  std::atomic<int> beats_heard{0};
  std::atomic<int> refused{0};

 private:
  class Player : public Session {
   public:
    explicit Player(Metronome& all) : all_(all) {}
    void on_open(Time now) override { all_.arrived(now); }
    std::size_t on_bytes(Bytes chunk, Time) override {
      all_.beats_heard += static_cast<int>(chunk.size());
      heard_ += static_cast<int>(chunk.size());
      return chunk.size();
    }
    void on_deadline(Time now) override {
      pending_ = true;
      next_ = now + std::chrono::milliseconds(2);
    }
    void on_drain(Time) override { drained_ = true; }
    std::size_t output(std::span<Segment> into) const override {
      if (!pending_ || into.empty()) return 0;
      into.front().bytes = as_bytes(std::string_view("x"));
      return 1;
    }
    std::optional<Time> deadline() const override {
      if (!all_.started_ || said_ + (pending_ ? 1 : 0) == all_.beats_) return std::nullopt;
      return std::max(next_, all_.start_);
    }
    bool finished() const override { return drained_ || heard_ == all_.beats_; }
    void consumed(std::size_t) override {
      pending_ = false;
      ++said_;
    }
    void released(std::size_t) override {}

   private:
    Metronome& all_;
    Time next_{};
    int said_ = 0;
    int heard_ = 0;
    bool pending_ = false;
    bool drained_ = false;
  };

  void arrived(Time now) {
    if (missing_.fetch_sub(1) != 1) return;
    start_ = now + std::chrono::milliseconds(5);
    started_ = true;
    publications_.announce();
  }

  Publications publications_;
  std::atomic<std::size_t> missing_;
  std::atomic<bool> started_{false};
  Time start_{};
  const int beats_;
};

}  // namespace joust::test
