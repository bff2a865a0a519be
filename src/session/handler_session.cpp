// SPDX-License-Identifier: MIT
#include "session/handler_session.hpp"

namespace joust {
namespace {

// Replies a session holds before it takes no further requests. A single reply may go beyond.
constexpr std::size_t kOutboxLimit = 256 << 10;

class HandlerSession : public Session {
 public:
  HandlerSession(const Framing& framing, std::unique_ptr<Handler> handler)
      : framing_(framing), deframer_(framing), handler_(std::move(handler)) {}

  std::size_t on_bytes(Bytes chunk, Time /*now*/) override {
    Writer replies(framing_, outbox_);
    std::size_t taken = 0;
    while (taken < chunk.size() && want() == Want::bytes) {
      const Deframer::Step step = deframer_.next(chunk.subspan(taken));
      taken += step.taken;
      if (step.status == Deframer::Status::malformed) {
        broken_ = true;
        complaint_ = deframer_.complaint();
      }
      if (step.status == Deframer::Status::message && !handler_->on_message(step.message, replies))
        broken_ = true;
    }
    return taken;
  }

  void on_peer_finished(Time /*now*/) override { peer_finished_ = true; }
  void on_drain(Time /*now*/) override { draining_ = true; }

  std::size_t output(std::span<Segment> into) const override { return outbox_.segments(into); }
  Want want() const override {
    return broken_ || outbox_.size() >= kOutboxLimit || drained() ? Want::nothing : Want::bytes;
  }
  bool finished() const override { return broken_ || peer_finished_ || drained(); }
  std::string_view complaint() const override { return complaint_; }
  void consumed(std::size_t n) override { outbox_.consumed(n); }
  void released(std::size_t n) override { outbox_.released(n); }

 private:
  // A request that has begun to arrive before the drain is still answered.
  bool drained() const { return draining_ && !deframer_.in_message(); }

  Framing framing_;
  Deframer deframer_;
  std::unique_ptr<Handler> handler_;
  Outbox outbox_;
  std::string_view complaint_;
  bool broken_ = false;
  bool peer_finished_ = false;
  bool draining_ = false;
};

}  // namespace

std::unique_ptr<Session> HandlerService::open(const Opening& opening) {
  const Framing framing = opening.delivery.kind == Delivery::Kind::message ? Framing{Raw{}} : framing_;
  return std::make_unique<HandlerSession>(framing, make_());
}

}  // namespace joust
