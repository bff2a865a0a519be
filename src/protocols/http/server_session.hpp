// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "files/store/storage.hpp"
#include "joust/outbox.hpp"
#include "joust/session.hpp"
#include "protocols/http/heads.hpp"
#include "protocols/http/messages.hpp"
#include "protocols/http/server.hpp"
#include "protocols/http/target.hpp"
#include "session/handler_session.hpp"

namespace joust::http {

// A peer that reads files over HTTP/1.1 or 1.0. Requests are answered in order, pipelined ones together.
// While the range of a file is in the output, nothing is added after it, so further requests wait unread.
// After many replies in one turn, requests wait too, for a deadline that is due at once.
class HttpSession final : public Session, private SessionFiles {
 public:
  explicit HttpSession(const HttpSite& site)
      : site_(site), incoming_rate_(site.rates.incoming), outgoing_rate_(site.rates.outgoing) {}
  ~HttpSession() override;
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  std::size_t on_bytes(Bytes chunk, Time now) override;
  void on_peer_finished(Time now) override;
  void on_deadline(Time now) override;
  void on_drain(Time now) override;

  std::size_t output(std::span<Segment> into) const override;
  Want want() const override;
  SessionFiles* files() override { return this; }
  std::optional<Time> deadline() const override;
  bool finished() const override { return over_ || drained(); }
  std::string_view complaint() const override { return complaint_; }
  std::uint64_t memory() const override { return outbox_.size(); }
  bool gives_up() const override { return gives_up_; }
  Answers answers() const override { return answers_of(*this); }
  void consumed(std::size_t n) override;
  void released(std::size_t n) override;

 private:
  // A file is never received.
  FileRange store() const override { return {}; }
  void on_stored(std::size_t /*n*/, Bytes /*seen*/, Time /*now*/) override {}
  void on_store_failed(int /*error*/, Time /*now*/) override {}
  void on_source_failed(int error, Time now) override;

  // The range of a file at the end of the output.
  struct Body {
    std::shared_ptr<File> file{};
    std::uint64_t offset = 0;
    std::uint64_t left = 0;        // not consumed yet
    std::uint64_t unreleased = 0;  // `left`, and what is consumed but not released
  };

  void answer(Bytes head, Time now);
  void answer(const Request& request, Time now);
  void answer_file(const Request& request, const RequestTarget& target, Time now);
  void send_file(const Request& request, const ServedFile& file, Time now);
  void send_missing(const Request& request, const RequestTarget& target, const std::string& name,
                    FileError error, Time now);
  void send_listing(const Request& request, std::string_view folder, Time now);
  void send_status(Status status, Time now, std::string_view name = {}, std::string_view value = {});
  void send(std::string_view head, Bytes body);
  void finish_head(ReplyText& head);
  void refuse(Status status, Time now);
  void refuse_unread(Status status, Time now);
  bool rests() const;  // no request is accepted, even if one has arrived
  // Returns true once draining and idle. A request that has begun to arrive before a stop is still answered,
  // and so are waiting requests.
  bool drained() const { return draining_ && !cutter_.in_head() && !behind_; }
  std::uint64_t waiting() const { return outbox_.size() + body_.left; }  // bytes for the peer
  void watch_rates(Time now);                                            // the last step of each input

  // Thousands of requests fit into one read. After this many replies the other peers of a loop get their
  // turn.
  static constexpr unsigned kMostRepliesInTurn = 64;

  const HttpSite& site_;
  HeadCutter cutter_;
  LeastRate incoming_rate_;  // the rate of an incomplete head
  LeastRate outgoing_rate_;  // the rate of unread replies
  std::uint64_t requests_ = 0;
  Time turn_{};  // time of the last reply: inputs of one time are one turn
  unsigned replies_in_turn_ = 0;
  std::uint64_t unreleased_ = 0;  // bytes of the outbox that are not released
  // The properties of the request that is being answered.
  bool closes_ = false;
  bool is_1_0_ = false;
  bool is_head_ = false;

  bool pauses_ = false;  // no request is accepted until the next turn
  bool behind_ = false;  // the last input was not taken whole
  bool draining_ = false;
  bool over_ = false;
  bool gives_up_ = false;
  Outbox outbox_;
  Body body_;  // sent after the outbox
  std::string complaint_;
};

}  // namespace joust::http
