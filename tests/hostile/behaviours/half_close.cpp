// SPDX-License-Identifier: MIT
//
// A peer that ends its direction while replies are on the way, or refuses to hear them.
#include <sys/socket.h>

#include "hostile/behaviour.hpp"

namespace joust::hostile {
namespace {

class HalfClose : public Behaviour {
 public:
  explicit HalfClose(const Means& means) : how_(means.chance.one_in(4) ? SHUT_RD : SHUT_WR) {}

  std::optional<Pause> step(Wire& wire) override {
    ::shutdown(wire.fd(), how_);  // ENOTCONN where the other side has reset the connection
    return std::nullopt;
  }

 private:
  int how_;
};

}  // namespace

std::unique_ptr<Behaviour> half_close(const Means& means) {
  return std::make_unique<HalfClose>(means);
}

}  // namespace joust::hostile
