// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "joust/outbox.hpp"
#include "joust/service.hpp"

namespace joust {

// What the sessions of a service have said, heard and been told.
struct Talk {
  std::string says{};   // when opened
  bool stays = false;   // after that; else it ends its side
  bool listens = true;  // wants what comes
  std::string heard{};
  unsigned opened = 0, not_opened = 0, failures = 0;
  bool peer_finished = false;
  std::string failure{};
  Stage stage{};  // of that failure
};

class TalkingSession : public Session {
 public:
  explicit TalkingSession(Talk& talk) : talk_(talk) {}
  void on_open(Time) override { out_.append(talk_.says); }
  std::size_t on_bytes(Bytes chunk, Time) override {
    talk_.heard += as_text(chunk);
    return chunk.size();
  }
  void on_peer_finished(Time) override { talk_.peer_finished = true; }
  void on_published(Time) override { out_.append("published"); }
  void on_drain(Time) override { talk_.stays = false; }
  void on_failure(const Failure& failure, Time) override {
    ++talk_.failures;
    talk_.failure = failure.detail;
    talk_.stage = failure.stage;
  }
  std::size_t output(std::span<Segment> into) const override { return out_.segments(into); }
  Want want() const override { return talk_.listens ? Want::bytes : Want::nothing; }
  bool finished() const override { return !talk_.stays; }
  void consumed(std::size_t n) override { out_.consumed(n); }
  void released(std::size_t n) override { out_.released(n); }

 private:
  Talk& talk_;
  Outbox out_;
};

class TalkingService : public Service {
 public:
  explicit TalkingService(Talk& talk) : talk_(talk) {}
  std::unique_ptr<Session> open(const ConnectionInfo&) override {
    ++talk_.opened;
    return std::make_unique<TalkingSession>(talk_);
  }
  void not_opened(const Failure& failure, Time) override {
    ++talk_.not_opened;
    talk_.failure = failure.detail;
    talk_.stage = failure.stage;
  }

 private:
  Talk& talk_;
};

}  // namespace joust
