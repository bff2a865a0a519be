// SPDX-License-Identifier: MIT
#include "conformance/asking.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include "base/check.hpp"
#include "joust/framing.hpp"
#include "net/socket_options.hpp"

namespace joust::conformance {
namespace {

class AskingSession : public Session {
 public:
  AskingSession(AskingService& service, const Asking& how, unsigned number)
      : service_(service), how_(how), number_(number) {}

  void on_open(Time now) override {
    if (how_.deadline) deadline_ = now + *how_.deadline;
    ask();
  }
  std::size_t on_bytes(Bytes chunk, Time /*now*/) override {
    for (std::size_t taken = 0; !finished_ && taken < chunk.size();) {
      const auto step = replies_.next(chunk.subspan(taken));
      taken += step.taken;
      if (step.status == Deframer::Status::message) answered(as_text(step.message));
    }
    return chunk.size();
  }
  void on_peer_finished(Time /*now*/) override {
    if (!finished_) ++service_.cut_short;
    finished_ = true;
  }
  void on_deadline(Time now) override {
    ++service_.timed_out;
    if (now < deadline_) ++service_.told_early;
    deadline_.reset();
    finished_ = true;
  }
  void on_drain(Time /*now*/) override { finished_ = true; }
  void on_failure(const Failure& /*failure*/, Time /*now*/) override {
    if (!finished_) ++service_.failed;
  }
  std::size_t output(std::span<Segment> into) const override { return requests_.segments(into); }
  std::optional<Time> deadline() const override { return deadline_; }
  bool finished() const override { return finished_; }
  void consumed(std::size_t n) override { requests_.consumed(n); }
  void released(std::size_t n) override { requests_.released(n); }

 private:
  std::string question() const { return fmt::format("question {} of {}", asked_, number_); }
  void ask() { write_frame(Line{}, as_bytes(question()), requests_); }
  void answered(std::string_view reply) {
    if (reply != question()) ++service_.wrong;
    ++service_.answered;
    if (++asked_ < how_.requests) return ask();
    finished_ = true;
    deadline_.reset();
  }

  AskingService& service_;
  Asking how_;
  unsigned number_;
  int asked_ = 0;
  Deframer replies_{Line{}};
  Outbox requests_;
  std::optional<Time> deadline_;
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<Session> AskingService::open(const ConnectionInfo& /*info*/) {
  return std::make_unique<AskingSession>(*this, how_, opened++);
}

void AskingService::not_opened(const Failure& failure, Time /*now*/) {
  const std::lock_guard lock(mutex_);
  refusals_.push_back(failure);
}

std::vector<Failure> AskingService::refusals() const {
  const std::lock_guard lock(mutex_);
  return refusals_;
}

Counterpart::Counterpart(Manner manner, std::string_view address)
    : manner_(manner), endpoint_(endpoint_of(address)) {
  listener_ = Fd(checked(::socket(endpoint_.family(), SOCK_STREAM | SOCK_CLOEXEC, 0), "socket()"));
  checked(::bind(listener_.get(), endpoint_.raw(), endpoint_.size), "bind({})", address);
  checked(::listen(listener_.get(), 1000), "listen({})", address);
  if (endpoint_.family() != AF_UNIX)
    checked(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&endpoint_.storage), &endpoint_.size),
            "getsockname()");
  acceptor_ = std::jthread([this] { accept_all(); });
}

Counterpart::~Counterpart() {
  ::shutdown(listener_.get(), SHUT_RDWR);  // ends accept()
  acceptor_.join();
  peers_.clear();
  if (endpoint_.family() == AF_UNIX) ::unlink(to_text(endpoint_).substr(5).c_str());
}

void Counterpart::accept_all() {
  for (;;) {
    Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.is_open() && errno == EINVAL) return;
    if (!socket.is_open()) continue;
    apply({}, socket.get());  // NODELAY, so that the pieces are sent at once
    peers_.emplace_back([this, peer = Peer(std::move(socket))]() mutable { serve(peer); });
  }
}

void Counterpart::serve(Peer& peer) const try {
  for (;;) {
    const std::string bytes = peer.receive_some(4096);
    if (bytes.empty()) return;
    if (manner_ == Manner::silent) continue;
    if (manner_ == Manner::resets) return peer.reset();
    if (manner_ == Manner::leaves) {
      peer.send(std::string_view(bytes).substr(0, bytes.size() / 2));
      return;
    }
    for (std::size_t at = 0; at < bytes.size(); at += 7) peer.send(std::string_view(bytes).substr(at, 7));
  }
} catch (const std::exception&) {
  // The dialling side may close early; its own counts show whether that was correct.
}

}  // namespace joust::conformance
