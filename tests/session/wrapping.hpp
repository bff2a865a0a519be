// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include "joust/outbox.hpp"
#include "joust/service.hpp"

namespace joust::test {

// A session inside another, with as little between them as can be: what goes over the wire is the inner
// session's bytes, each one changed. The outer session cannot make its output in output(), which is const, so
// it takes the inner one's after every input and acknowledgement. Sessions that deal with files cannot be
// wrapped.
class WrappingSession : public Session {
 public:
  explicit WrappingSession(std::unique_ptr<Session> inner) : inner_(std::move(inner)) {}

  void on_open(Time now) override {
    inner_->on_open(now);
    pull();
  }
  std::size_t on_bytes(Bytes chunk, Time now) override {
    std::vector<std::byte> plain(chunk.begin(), chunk.end());
    for (std::byte& byte : plain) byte = changed(byte);
    const std::size_t taken = inner_->on_bytes(plain, now);
    pull();
    return taken;
  }
  void on_published(Time now) override {
    inner_->on_published(now);
    pull();
  }
  void on_peer_finished(Time now) override {
    inner_->on_peer_finished(now);
    pull();
  }
  void on_deadline(Time now) override {
    inner_->on_deadline(now);
    pull();
  }
  void on_drain(Time now) override {
    inner_->on_drain(now);
    pull();
  }
  void on_failure(const Failure& failure, Time now) override { inner_->on_failure(failure, now); }

  std::size_t output(std::span<Segment> into) const override { return outbox_.segments(into); }
  Want want() const override { return inner_->want(); }
  std::optional<Time> deadline() const override { return inner_->deadline(); }
  bool finished() const override {
    Segment left;
    return inner_->finished() && inner_->output({&left, 1}) == 0;
  }
  std::string_view complaint() const override { return inner_->complaint(); }
  bool gives_up() const override { return inner_->gives_up(); }
  void consumed(std::size_t n) override {
    outbox_.consumed(n);
    pull();
  }
  void released(std::size_t n) override { outbox_.released(n); }

 private:
  static constexpr std::size_t kMostHeld = 64 << 10;  // bytes

  static std::byte changed(std::byte byte) { return byte ^ std::byte{0x55}; }

  void pull() {
    Segment segment;
    while (outbox_.size() < kMostHeld && inner_->output({&segment, 1}) > 0) {
      const Bytes plain = segment.bytes;
      const auto place = outbox_.extend(plain.size());
      for (std::size_t i = 0; i < plain.size(); ++i) place[i] = changed(plain[i]);
      inner_->consumed(plain.size());
      inner_->released(plain.size());
    }
  }

  const std::unique_ptr<Session> inner_;
  Outbox outbox_;
};

// The sessions of another service, wrapped.
class WrappingService : public Service {
 public:
  explicit WrappingService(Service& inner) : inner_(inner) {}
  std::unique_ptr<Session> open(const ConnectionInfo& info) override {
    return std::make_unique<WrappingSession>(inner_.open(info));
  }
  void not_opened(const Failure& failure, Time now) override { inner_.not_opened(failure, now); }
  Publications* publications() override { return inner_.publications(); }

 private:
  Service& inner_;
};

}  // namespace joust::test
