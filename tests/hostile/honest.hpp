// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "conformance/peer.hpp"
#include "hostile/chance.hpp"
#include "hostile/findings.hpp"
#include "hostile/setting.hpp"
#include "protocols/broadcast/protocol.hpp"

namespace joust::hostile {

// What honest clients are told of the run they take part in. Any thread.
struct Circumstances {
  const Setting& setting;
  Endpoint server;
  std::atomic<bool> stopping{false};  // a stop has been, or is about to be, requested
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
Conversation http_conversation(const Circumstances& circumstances);
Conversation resp_conversation(const Circumstances& circumstances);
Conversation websocket_conversation(const Circumstances& circumstances);
Conversation work_conversation(const Circumstances& circumstances);
Conversation conversation_of(const Circumstances& circumstances);  // by the setting's protocol

// A member of a broadcast room that checks all it hears of honest members: each message once, in order, with
// the right bytes. The others are told apart by their numbers.
class RoomMember {
 public:
  static constexpr std::uint32_t kFirst = 910'000;  // hostile peers have numbers below

  RoomMember(const Endpoint& room, std::uint32_t member) : peer_(room), member_(member) {}
  void join();
  void round_trip(std::uint64_t number);  // sends one message, and hears the room until that has come back

 private:
  void say(const broadcast::Frame& frame);
  broadcast::Frame hear();
  void check(const broadcast::Frame& frame);

  conformance::Peer peer_;
  std::uint32_t member_;
  std::string body_;
  std::map<std::uint32_t, std::uint64_t> next_;  // number expected of each honest member
};

// Brings a file in ranges, and reads it back with its digest. Both throw FileRefusal where the server
// refuses.
void bring_file(const Endpoint& server, const std::string& name, const std::string& bytes, Chance& chance);
std::string fetch_file(const Endpoint& server, const std::string& name);

// A client that keeps to the rules, on the thread that calls: each of its conversations is to be answered to
// the last byte.
class HonestClient {
 public:
  // `wrong` gets the wrong replies, `cut_off` the conversations that the server has ended without a stop.
  HonestClient(Circumstances& circumstances, std::uint64_t number, Findings& wrong, Findings& cut_off)
      : circumstances_(circumstances),
        number_(number),
        wrong_(wrong),
        cut_off_(cut_off),
        converse_(conversation_of(circumstances)) {}

  void run();                                           // until a stop
  std::uint64_t answered() const { return answered_; }  // conversations; any thread

 private:
  Circumstances& circumstances_;
  const std::uint64_t number_;
  Findings& wrong_;
  Findings& cut_off_;
  const Conversation converse_;
  std::atomic<std::uint64_t> answered_{0};
};

}  // namespace joust::hostile
