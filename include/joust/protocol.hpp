// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "joust/handler.hpp"
#include "joust/service.hpp"
#include "joust/settings.hpp"

namespace joust {

struct LoadPlan;  // load_plan.hpp
class LoadRun;    // one load: its schedule and what it records. A client made by exchange_client() uses it.

// A setting that only some protocols have, as data: command line, scenarios and results all read it from
// here. Protocols that share an option's name mean the same by it.
struct ProtocolOption {
  std::string name;                    // "flush", which becomes --flush
  std::string summary;                 // one line
  std::string standard;                // its value where none is given
  std::vector<std::string> choices{};  // empty: any text; "no", "yes": a switch, whose name alone means yes
  bool serves = true;                  // the server has it
  bool loads = true;                   // the client side has it
};

// The settings of one side of a protocol.
struct Parameters {
  std::size_t payload = 32;      // bytes of one message, without framing
  std::uint64_t connection = 0;  // 0, 1, 2 ...: which connection of the load (exchanges only)
  Settings options{};            // every option the protocol has for this side, by name

  // Throws std::out_of_range for an option that the protocol does not have for this side.
  const std::string& option(const std::string& name) const { return options.at(name); }
};

struct Protocol;

// The options of a side, all with the values they have where none is given.
Parameters standard_parameters(const Protocol& protocol, Role side);

// The messages of a conversation and how both sides act on them. A plain value, made once when the program
// starts. Its functions may be called from any thread.
struct Protocol {
  std::string name;          // lower-case kebab
  std::string summary;       // one line
  bool over_stream = true;   // can be carried by a stream of bytes
  bool over_message = true;  // can be carried by whole messages
  // True where no session of a server needs to know of another one, so that an engine may serve connections
  // in different processes. False is always safe.
  bool sessions_stand_alone = false;
  std::size_t least_payload = 1;          // bytes
  std::size_t largest_payload = 1 << 20;  // bytes
  // How many messages each connection of `load` sends where neither a count nor a time is given; 0: it loads
  // for a time instead.
  std::uint64_t standard_messages = 0;
  // True where a load without sockets shows the most that the client side can do. False where the server's
  // own work is the larger part, which would slow the client down in the same process.
  bool has_ceiling = true;
  std::vector<ProtocolOption> options{};
  std::string verified = "byte for byte";  // how the client side checks replies, for reports

  // Make the service of a side. Throw std::invalid_argument, which says what is wrong and what to do, for
  // options that cannot be. The service must not outlive the LoadRun. A client that was not made by
  // exchange_client() ignores it: its connections can be made by joust::Client, and are not measured.
  std::function<std::unique_ptr<Service>(const Parameters&)> make_server;
  std::function<std::unique_ptr<Service>(const Parameters&, LoadRun&)> make_client;

  // Throws what make_client would throw for options and a plan that do not fit one another, but opens no
  // file. A race asks it before the first trial. Empty: make_client alone decides.
  std::function<void(const Parameters&, const LoadPlan&)> check_client{};
};

// Makes the exchange of one connection; any thread, several at once.
using MakeExchange = std::function<std::unique_ptr<Exchange>(const Parameters&)>;

// A Protocol::make_client whose connections send the requests of exchanges by the plan of a load, verify
// every reply and record its latency.
std::function<std::unique_ptr<Service>(const Parameters&, LoadRun&)> exchange_client(Framing framing,
                                                                                     MakeExchange make);

// A protocol in which every request has one reply, in order. Most protocols need no more.
struct RequestResponse {
  std::string name;     // lower-case kebab
  std::string summary;  // one line
  Framing framing = Raw{};
  std::function<std::unique_ptr<Handler>()> handler;  // for one connection; any thread, several at once
  MakeExchange exchange;
  // Bytes per second, at least: of a message that has begun, over each 10 s, and of replies that wait to be
  // read, over each minute. A peer that is slower is disconnected and counted. 0: any rate will do.
  std::uint64_t least_rate = 1024;
};

// Its sessions stand alone: where handlers share anything, set Protocol::sessions_stand_alone to false.
Protocol request_response(RequestResponse description);

}  // namespace joust
