// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "joust/service.hpp"

namespace joust::conformance {

// Sends "go" to every session once the expected number has opened, as a load does.
class GatheringService : public Service {
 public:
  explicit GatheringService(unsigned expected) : expected_(expected) {}
  std::unique_ptr<Session> open(const ConnectionInfo& info) override;
  Publications* publications() override { return &publications_; }

  bool complete() const { return opened_.load() >= expected_; }
  void one_more();

 private:
  const unsigned expected_;
  std::atomic<unsigned> opened_{0};
  Publications publications_;
};

// One message of a member to the room.
struct Remark {
  std::uint32_t speaker;
  std::uint32_t number;  // 0, 1, 2 ... for each speaker
};

// A room: every session gets the input of all sessions, its own included. The log has a fixed capacity of
// remarks.
class RoomService : public Service {
 public:
  explicit RoomService(std::size_t capacity) : log_(capacity) {}
  std::unique_ptr<Session> open(const ConnectionInfo& info) override;
  Publications* publications() override { return &publications_; }

  void publish(const Remark& remark);
  std::span<const Remark> all() const { return std::span(log_).first(size_.load(std::memory_order_acquire)); }

 private:
  std::mutex mutex_;
  std::vector<Remark> log_;
  std::atomic<std::size_t> size_{0};
  Publications publications_;
};

}  // namespace joust::conformance
