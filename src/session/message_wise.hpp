// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>

#include "joust/service.hpp"
#include "joust/session.hpp"

namespace joust {

// Makes sessions whose frames (Length4) leave in two writes: output() shows the length alone, and the payload
// after the length has been consumed. So an engine cannot gather both into one call. Wraps the sessions of
// another service, on either side. A message transport has no lengths, and its sessions are not wrapped.
class LengthFirstService : public Service {
 public:
  explicit LengthFirstService(std::unique_ptr<Service> inner) : inner_(std::move(inner)) {}

  std::unique_ptr<Session> open(const ConnectionInfo& info) override;
  void not_opened(const Failure& failure, Time now) override { inner_->not_opened(failure, now); }
  std::optional<Redial> redial(Time now) override { return inner_->redial(now); }
  std::unique_ptr<Session> open_group(const Delivery& delivery) override {
    return inner_->open_group(delivery);
  }
  Publications* publications() override { return inner_->publications(); }
  std::vector<ResultGroup> results() const override { return inner_->results(); }

 private:
  const std::unique_ptr<Service> inner_;
};

// Makes a session for a transport of whole messages from one whose stream consists of frames (Length4): each
// frame travels as one message, without its length. A session that writes an empty message, or one of more
// than `largest` bytes, fails, because the transport could not carry it.
std::unique_ptr<Session> message_wise(std::unique_ptr<Session> inner, std::size_t largest);

}  // namespace joust
