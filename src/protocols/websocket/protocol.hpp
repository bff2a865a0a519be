// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "joust/protocol.hpp"
#include "joust/service.hpp"
#include "protocols/websocket/client.hpp"
#include "protocols/websocket/message.hpp"

namespace joust::websocket {

std::vector<ProtocolOption> options();

// The parsed options of a client.
struct ClientOptions {
  HandshakeTarget target{};
  Opcode opcode = Opcode::binary;
  std::size_t fragment = 0;  // bytes of payload in a frame, at most; as many as a message may have: one frame
};

ClientOptions client_options(const Parameters& parameters);  // throws std::invalid_argument

// Make the two sides of the protocol. The client throws std::invalid_argument for options that do not fit.
std::unique_ptr<Service> make_server(const Parameters& parameters);
std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run);

}  // namespace joust::websocket
