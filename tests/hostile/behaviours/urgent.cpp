// SPDX-License-Identifier: MIT
//
// A byte out of band, which TCP shows as an event of its own (POLLPRI) and at which a read ends early.
#include <sys/socket.h>

#include "hostile/behaviour.hpp"

namespace joust::hostile {
namespace {

class Urgent : public Behaviour {
 public:
  std::optional<Pause> step(Wire& wire) override {
    wire.send("!", MSG_OOB);
    return std::nullopt;
  }
};

}  // namespace

std::unique_ptr<Behaviour> urgent(const Means& /*means*/) {
  return std::make_unique<Urgent>();
}

}  // namespace joust::hostile
