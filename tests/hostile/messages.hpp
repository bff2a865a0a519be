// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "hostile/chance.hpp"

namespace joust::hostile {

// The vocabulary of one peer in one protocol, right and wrong. An object knows the state of the conversation
// as far as its own words change it (which member the peer is, which request comes next).
class Messages {
 public:
  virtual ~Messages() = default;

  virtual std::string opening() { return {}; }     // what a connection begins with
  virtual std::string valid() = 0;                 // one message, of any size
  virtual std::string small() { return valid(); }  // one of those of which many fit into a packet
  virtual std::string invalid() = 0;               // breaks the protocol somewhere
};

std::unique_ptr<Messages> byte_messages(Chance& chance);
std::unique_ptr<Messages> broadcast_messages(Chance& chance);
std::unique_ptr<Messages> file_messages(Chance& chance);
std::unique_ptr<Messages> http_messages(Chance& chance);
std::unique_ptr<Messages> resp_messages(Chance& chance);
std::unique_ptr<Messages> websocket_messages(Chance& chance);
std::unique_ptr<Messages> work_messages(Chance& chance);

// By the protocol's name.
std::unique_ptr<Messages> messages_of(const std::string& protocol, Chance& chance);

// The files a hostile peer asks for and brings. Those of honest peers have other names.
inline constexpr std::uint64_t kSampleBytes = 700'000;  // of the file "sample", which every server has
const std::string& sample_text();                       // its bytes, on a server of http

}  // namespace joust::hostile
