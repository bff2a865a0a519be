// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "joust/handler.hpp"
#include "joust/service.hpp"

namespace joust {

class LoadRun;  // the client side's schedule and records; see load/run.hpp

// What a load asks of every protocol; protocols of one's own read what they need.
struct Parameters {
  std::size_t payload = 32;      // bytes of one message, without framing
  std::uint64_t connection = 0;  // 0, 1, 2 ...: which connection of the load (exchanges only)
};

// What is said on the wire and what the server does about it. Values, made once at start-up; the functions
// are called from any thread.
struct Protocol {
  std::string name;     // lower-case kebab
  std::string summary;  // one line
  bool over_stream = true;
  bool over_message = true;
  std::size_t least_payload = 1;          // bytes
  std::size_t largest_payload = 1 << 20;  // bytes

  std::function<std::unique_ptr<Service>(const Parameters&)> make_server;
  std::function<std::unique_ptr<Service>(const Parameters&, LoadRun&)> make_client;
};

// A protocol in which every request has one reply, in order: all that most users need.
struct RequestResponse {
  std::string name;
  std::string summary;
  Framing framing = Raw{};
  std::function<std::unique_ptr<Handler>()> handler;
  std::function<std::unique_ptr<Exchange>(const Parameters&)> exchange;
};
Protocol request_response(RequestResponse description);

}  // namespace joust
