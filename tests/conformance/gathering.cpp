// SPDX-License-Identifier: MIT
#include "conformance/gathering.hpp"

#include <cassert>
#include <cstring>

namespace joust::conformance {
namespace {

class GatheringSession : public Session {
 public:
  explicit GatheringSession(GatheringService& service) : service_(service) {}
  void on_open(Time /*now*/) override { service_.one_more(); }
  std::size_t on_bytes(Bytes chunk, Time /*now*/) override { return chunk.size(); }
  void on_peer_finished(Time /*now*/) override { finished_ = true; }
  void on_drain(Time /*now*/) override { finished_ = true; }
  std::size_t output(std::span<Segment> into) const override {
    if (!service_.complete() || said_ == kGo.size()) return 0;
    into[0] = {as_bytes(kGo.substr(said_))};
    return 1;
  }
  bool finished() const override { return finished_; }
  void consumed(std::size_t n) override { said_ += n; }
  void released(std::size_t /*n*/) override {}

 private:
  static constexpr std::string_view kGo = "go";
  GatheringService& service_;
  std::size_t said_ = 0;
  bool finished_ = false;
};

class RoomSession : public Session {
 public:
  explicit RoomSession(RoomService& room) : room_(room) {}
  std::size_t on_bytes(Bytes chunk, Time /*now*/) override {
    for (const std::byte byte : chunk) {
      held_[held_size_++] = byte;
      if (held_size_ < held_.size()) continue;
      held_size_ = 0;
      Remark remark{};
      std::memcpy(&remark, held_.data(), held_.size());
      room_.publish(remark);
    }
    return chunk.size();
  }
  void on_peer_finished(Time /*now*/) override { finished_ = true; }
  void on_drain(Time /*now*/) override { finished_ = true; }
  std::size_t output(std::span<Segment> into) const override {
    const auto unsent = std::as_bytes(room_.all()).subspan(sent_);
    if (finished_ || unsent.empty()) return 0;
    into[0] = {unsent};
    return 1;
  }
  bool finished() const override { return finished_; }
  void consumed(std::size_t n) override { sent_ += n; }
  void released(std::size_t /*n*/) override {}

 private:
  RoomService& room_;
  std::array<std::byte, sizeof(Remark)> held_{};
  std::size_t held_size_ = 0;
  std::size_t sent_ = 0;  // bytes of the log that were sent
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<Session> GatheringService::open(const ConnectionInfo& /*info*/) {
  return std::make_unique<GatheringSession>(*this);
}

void GatheringService::one_more() {
  if (++opened_ == expected_) publications_.announce();
}

std::unique_ptr<Session> RoomService::open(const ConnectionInfo& /*info*/) {
  return std::make_unique<RoomSession>(*this);
}

void RoomService::publish(const Remark& remark) {
  {
    const std::lock_guard lock(mutex_);
    const std::size_t size = size_.load(std::memory_order_relaxed);
    assert(size < log_.size());
    log_[size] = remark;
    size_.store(size + 1, std::memory_order_release);
  }
  publications_.announce();
}

}  // namespace joust::conformance
