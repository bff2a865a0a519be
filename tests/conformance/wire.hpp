// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "engines/engine.hpp"
#include "joust/bytes.hpp"
#include "joust/time.hpp"
#include "net/address.hpp"
#include "net/socket_options.hpp"

namespace joust::conformance {

// Whole messages between a test and an engine of messages, over a plain socket: UDP, or the frames of ZeroMQ
// over TCP, which are written down here so that the library does not test itself.
class Wire {
 public:
  struct Message {
    std::vector<std::byte> bytes;
    Endpoint from;
  };

  Wire() = default;
  virtual ~Wire() = default;
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  virtual const Endpoint& own() const = 0;  // where it is asked for
  virtual Endpoint answers_from() const { return own(); }
  // `to`: one who has sent something; null at a client's end. Throws std::system_error if it cannot be sent.
  virtual void send(Bytes message, const Endpoint* to) = 0;
  // Nothing if none comes in that time. Throws std::runtime_error when the server has closed the connection.
  virtual std::optional<Message> next(Duration within) = 0;
  virtual void close() = 0;
  virtual void shut() {}  // ends a connection under a thread that uses it
};

// What the tested engine's sockets are, from here on. Engines of messages over streams speak ZeroMQ.
void speak(Transport transport);

// To a server, or to the one that answers for a group.
std::unique_ptr<Wire> wire_to(const Endpoint& server);
// For an engine that dials: at a port of loopback, and in a group if the engine looks for its server there.
std::unique_ptr<Wire> wire_for(const Engine& client);

}  // namespace joust::conformance
