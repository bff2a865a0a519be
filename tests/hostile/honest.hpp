// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "conformance/peer.hpp"
#include "hostile/chance.hpp"
#include "hostile/findings.hpp"
#include "hostile/setting.hpp"

namespace joust::hostile {

// What honest clients are told of the run they take part in. Any thread.
struct Circumstances {
  const Setting& setting;
  Endpoint server;
  std::atomic<bool> stopping{false};              // a stop has been, or is about to be, requested
  std::atomic<std::uint64_t> hostile_bytes{0};    // sent by the crowd so far
};

// A reply that is not the right one.
struct WrongReply : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One conversation on a connection of its own: throws WrongReply, or what conformance::Peer throws when the
// connection is lost.
using Conversation = std::function<void(std::uint64_t number, Chance& chance)>;

Conversation echo_conversation(const Circumstances& circumstances);  // uppercase too
Conversation broadcast_conversation(const Circumstances& circumstances);
Conversation file_conversation(const Circumstances& circumstances);
Conversation conversation_of(const Circumstances& circumstances);  // by the setting's protocol

// A client that keeps to the rules, on the thread that calls: each of its conversations must be answered to
// the last byte, unless a rule of the server allows to end it.
class HonestClient {
 public:
  HonestClient(Circumstances& circumstances, std::uint64_t number, Findings& findings)
      : circumstances_(circumstances),
        number_(number),
        findings_(findings),
        converse_(conversation_of(circumstances)) {}

  void run();  // until a stop
  std::uint64_t answered() const { return answered_; }  // conversations; any thread

 private:
  bool may_be_cut_off() const;

  Circumstances& circumstances_;
  const std::uint64_t number_;
  Findings& findings_;
  const Conversation converse_;
  std::atomic<std::uint64_t> answered_{0};
};

}  // namespace joust::hostile
