// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "joust/service.hpp"

namespace joust {

// A session that admits only peers that prove something: that they know the token, or who they are. The
// session inside is made when the peer has proven that. A peer that does not reaches no decoder, and costs no
// more than the handshake, which has an absolute deadline. The derived class defines the handshake and the
// treatment of later bytes.
class GuardedSession : public Session {
 public:
  static constexpr Duration kLongestHandshake = std::chrono::seconds(5);

  void on_open(Time now) override;
  void on_published(Time now) override;
  void on_deadline(Time now) override;
  void on_drain(Time now) override;
  void on_failure(const Failure& failure, Time now) override;

  std::optional<Time> deadline() const override;
  std::string_view complaint() const override;
  std::uint64_t memory() const override { return inner_ ? inner_->memory() : 0; }
  bool gives_up() const override { return too_late_ || (inner_ && inner_->gives_up()); }

 protected:
  // The service is borrowed.
  GuardedSession(Service& service, const ConnectionInfo& info) : service_(service), info_(info) {}

  // Describes a handshake that took too long.
  virtual std::string late_words() const = 0;
  // Does everything that can be done now: the last step of each input.
  virtual void proceed(Time now) = 0;

  bool is_open() const { return inner_ != nullptr; }
  Session& inner() const { return *inner_; }
  void let_in(Time now);  // called when the handshake is over: opens the inner session
  // Ends the session: nothing more is taken or begun. Bytes in the output are still sent.
  void end() { over_ = true; }
  bool over() const { return over_; }
  // Stage::verify: another attempt would fail in the same way.
  void fail(std::string complaint, Time now, Stage stage = Stage::verify);

  const ConnectionInfo& info() const { return info_; }

 private:
  void tell(const Failure& failure, Time now);

  Service& service_;
  const ConnectionInfo info_;
  std::unique_ptr<Session> inner_;  // null until the handshake is over
  std::string complaint_;
  std::optional<Time> due_;  // the deadline of the handshake
  bool over_ = false;
  bool too_late_ = false;
  bool told_failure_ = false;  // the inner session or the service has got the failure
};

}  // namespace joust
