// SPDX-License-Identifier: MIT
//
// The beginning of a message. What the peer does next comes in its middle; often it leaves.
#include "hostile/behaviour.hpp"

namespace joust::hostile {
namespace {

class Cut : public Behaviour {
 public:
  explicit Cut(const Means& means) {
    std::string message = means.messages.valid();
    message.resize(means.chance.size(message.size() + 1) - 1);
    sending_.put(std::move(message));
  }

  std::optional<Pause> step(Wire& wire) override {
    sending_.send(wire);
    return std::nullopt;
  }

 private:
  Sending sending_;
};

}  // namespace

std::unique_ptr<Behaviour> cut(const Means& means) {
  return std::make_unique<Cut>(means);
}

}  // namespace joust::hostile
