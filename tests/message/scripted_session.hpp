// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "joust/service.hpp"

namespace joust {

// What a session over messages does, and what it was told. Lives on, for the test to look at.
struct MessageScript {
  std::deque<std::string> to_send;
  std::vector<std::string> received;
  std::vector<std::string> told;
  Want want = Want::bytes;
  bool echoes = false;                 // what it receives
  bool finishes_when_sent = false;     // all of to_send,
  bool finishes_with_its_peer = true;  // when the peer has,
  bool finished = false;               // or now
  std::optional<Time> deadline;
  std::string complaint;
  bool gives_up = false;
  unsigned published = 0;
  std::size_t released = 0;  // bytes
};

class ScriptedMessages : public Session {
 public:
  explicit ScriptedMessages(MessageScript& script) : script_(script) {}
  ~ScriptedMessages() override { script_.told.emplace_back("destroyed"); }
  ScriptedMessages(const ScriptedMessages&) = delete;
  ScriptedMessages& operator=(const ScriptedMessages&) = delete;

  void on_open(Time /*now*/) override { script_.told.emplace_back("open"); }
  std::size_t on_bytes(Bytes chunk, Time /*now*/) override {
    script_.received.emplace_back(as_text(chunk));
    if (script_.echoes) script_.to_send.emplace_back(as_text(chunk));
    return chunk.size();
  }
  void on_published(Time /*now*/) override { ++script_.published; }
  void on_peer_finished(Time /*now*/) override {
    script_.told.emplace_back("peer finished");
    script_.finished |= script_.finishes_with_its_peer;
  }
  void on_deadline(Time /*now*/) override {
    script_.told.emplace_back("deadline");
    script_.deadline.reset();
  }
  void on_drain(Time /*now*/) override {
    script_.told.emplace_back("drain");
    script_.finished = true;
  }
  void on_failure(const Failure& failure, Time /*now*/) override {
    script_.told.push_back("failure: " + std::string(stage_name(failure.stage)));
  }
  std::size_t output(std::span<Segment> into) const override {
    const std::size_t count = std::min(into.size(), script_.to_send.size());
    for (std::size_t i = 0; i < count; ++i) into[i].bytes = as_bytes(script_.to_send[i]);
    return count;
  }
  Want want() const override { return script_.want; }
  std::optional<Time> deadline() const override { return script_.deadline; }
  bool finished() const override {
    return script_.finished || (script_.finishes_when_sent && script_.to_send.empty());
  }
  std::string_view complaint() const override { return script_.complaint; }
  bool gives_up() const override { return script_.gives_up; }
  void consumed(std::size_t n) override {
    while (n > 0) {
      const std::size_t size = script_.to_send.front().size();
      if (size > n) throw std::logic_error("a part of a message was consumed");
      n -= size;
      sent_.push_back(std::move(script_.to_send.front()));
      script_.to_send.pop_front();
    }
  }
  void released(std::size_t n) override { script_.released += n; }

 private:
  MessageScript& script_;
  std::vector<std::string> sent_;
};

// Opens sessions with scripts of its own, in the order of their info.
class ScriptedMessageService : public Service {
 public:
  using Prepare = std::function<void(MessageScript&, std::size_t number)>;
  explicit ScriptedMessageService(Prepare prepare = [](MessageScript&, std::size_t) {})
      : prepare_(std::move(prepare)) {}

  std::unique_ptr<Session> open(const ConnectionInfo& info) override {
    delivery = info.delivery;
    scripts.push_back(std::make_unique<MessageScript>());
    prepare_(*scripts.back(), scripts.size() - 1);
    return std::make_unique<ScriptedMessages>(*scripts.back());
  }

  std::vector<std::unique_ptr<MessageScript>> scripts;
  Delivery delivery;  // as the last session was told

 private:
  Prepare prepare_;
};

}  // namespace joust
