// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "joust/handler.hpp"
#include "joust/service.hpp"

namespace joust {

class LoadRun;  // the client side's schedule and records; see load/run.hpp

// A setting that only some protocols have, as data: command line, scenarios and results all read it from
// here. Protocols that share an option's name mean the same by it.
struct ProtocolOption {
  std::string name;                    // "flush", which becomes --flush
  std::string summary;                 // one line
  std::string standard;                // what it is when nobody says anything
  std::vector<std::string> choices{};  // empty: any text; "no", "yes": a switch, whose name alone means yes
  bool serves = true;                  // means something to the server,
  bool loads = true;                   // to the client side
};

// What a program asks of every protocol; protocols of one's own read what they need.
struct Parameters {
  std::size_t payload = 32;      // bytes of one message, without framing
  std::uint64_t connection = 0;  // 0, 1, 2 ...: which connection of the load (exchanges only)
  std::map<std::string, std::string, std::less<>> options{};  // all that the protocol has for this side

  const std::string& option(const std::string& name) const { return options.at(name); }
};

struct Protocol;

// What a side asks for when nobody says anything.
enum class Role : std::uint8_t;
Parameters standard_parameters(const Protocol& protocol, Role side);

// What is said on the wire and what the server does about it. Values, made once at start-up; the functions
// are called from any thread.
struct Protocol {
  std::string name;     // lower-case kebab
  std::string summary;  // one line
  bool over_stream = true;
  bool over_message = true;
  std::size_t least_payload = 1;          // bytes
  std::size_t largest_payload = 1 << 20;  // bytes
  std::uint64_t standard_messages = 0;    // of a connection, where neither a count nor a time is asked for;
                                          // 0: a time
  // Without sockets a load shows the most that the client can do. Not where the server's own work is the
  // larger part: in one process it slows the client down.
  bool has_ceiling = true;
  std::vector<ProtocolOption> options{};
  std::string verified = "byte for byte";  // how the client side checks replies, for reports

  // Throw std::invalid_argument, with what is wrong and what to do, for options that cannot be.
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
  // Bytes per second, at least: of a message that has begun, over each 10 s, and of replies that wait to be
  // read, over each minute. A peer that is slower is disconnected and counted. 0: any rate will do.
  std::uint64_t least_rate = 1024;
};
Protocol request_response(RequestResponse description);

}  // namespace joust
