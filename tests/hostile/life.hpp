// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "hostile/behaviour.hpp"

namespace joust::hostile {

// What the peers of one crowd have in common.
struct Kind {
  std::string protocol;
  std::uint64_t seed = 0;
  Appetite appetite{};
};

// One hostile peer, from its connect (or its being accepted) until it leaves: some behaviours by chance, and
// a way to leave by chance.
class Life {
 public:
  // `number` tells the lives of a run apart: seed and number make all decisions. A socket that is still
  // connecting is waited for.
  Life(const Kind& kind, std::uint64_t number, Fd socket);
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  // As much as goes without waiting, and what to wait for then. Nothing when the peer has left.
  std::optional<Pause> step();

  int fd() const { return wire_.fd(); }

 private:
  enum class Phase : std::uint8_t { connecting, opening, acting, leaving };

  std::optional<Pause> connect();
  std::optional<Pause> act();
  std::optional<Pause> leave();

  Chance chance_;
  std::unique_ptr<Messages> messages_;
  Means means_;
  Wire wire_;
  Phase phase_ = Phase::connecting;
  int waited_ = 0;      // for the connect, or for the other side's end
  std::uint64_t left_;  // behaviours
  std::unique_ptr<Behaviour> behaviour_;
};

}  // namespace joust::hostile
