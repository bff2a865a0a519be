// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "joust/session.hpp"

namespace joust::test {

// A session that sends nothing, and is finished when the peer is or the server drains.
class Listening : public Session {
 public:
  void on_peer_finished(Time /*now*/) override { finished_ = true; }
  void on_drain(Time /*now*/) override { finished_ = true; }
  std::size_t output(std::span<Segment> /*into*/) const override { return 0; }
  bool finished() const override { return finished_; }
  void consumed(std::size_t /*n*/) override {}
  void released(std::size_t /*n*/) override {}

 private:
  bool finished_ = false;
};

}  // namespace joust::test
