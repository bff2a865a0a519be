// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>

#include "hostile/life.hpp"
#include "net/address.hpp"

namespace joust::hostile {

// Hostile peers, all on one thread. Their decisions depend on the seed alone; in which order they meet the
// other side is the kernel's.
class Crowd {
 public:
  explicit Crowd(Kind kind) : kind_(std::move(kind)) {}

  // A peer at the end of this socket, which may still be connecting.
  void add(Fd socket);
  void connect(const Endpoint& to, int buffers);  // bytes of its socket's buffers; 0: the kernel's

  // Waits until some peer has something to do, or `also` is readable, but for no longer than a moment.
  // Returns whether `also` is readable.
  bool turn(int also = -1);

  std::size_t present() const { return lives_.size(); }
  std::uint64_t begun() const { return begun_; }  // lives so far

 private:
  struct Entry {
    Entry(const Kind& kind, std::uint64_t number, Fd socket) : life(kind, number, std::move(socket)) {}
    Life life;
    Pause pause{};
    Time again{};
  };

  Kind kind_;
  std::uint64_t begun_ = 0;
  std::list<Entry> lives_;
};

}  // namespace joust::hostile
