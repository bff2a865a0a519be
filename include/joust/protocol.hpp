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
class LoadRun;    // one load: its schedule and its records, used by exchange_client()

// A setting of one or several protocols, as data: the command line, scenarios and results all read it from
// here. Options of the same name mean the same in every protocol.
struct ProtocolOption {
  std::string name;      // "flush", which becomes --flush
  std::string summary;   // one line
  std::string standard;  // its default value
  // Empty: any text. {"no", "yes"}: a switch, set to yes by its bare name.
  std::vector<std::string> choices{};
  bool serves = true;  // valid for the server
  bool loads = true;   // valid for the client side
  // False where it costs the server's time: the ceiling of a load, measured in one process, does without it.
  bool in_ceiling = true;
};

// The settings of one side of a protocol.
struct Parameters {
  std::size_t payload = 32;      // bytes of one message, without framing
  std::uint64_t connection = 0;  // 0, 1, 2 ...: the connection's number in the load (exchanges only)
  Delivery delivery{};           // likewise
  bool on_loopback = false;      // nothing outside this machine reaches the addresses (servers only)
  Settings options{};            // every option of the protocol for this side, by name

  // Throws std::out_of_range for a name that is not an option of this side.
  const std::string& option(const std::string& name) const { return options.at(name); }
};

// What the options of one side ask of the engines, beside what the protocol asks.
struct Demands {
  bool file_ring = false;        // of the side's own engine: files received through a ring (Filling::ring)
  bool file_mapping = false;     // of the side's own engine: bytes sent from the mapping of a file
  bool common_sessions = false;  // of the server's engine: sessions of these connections share a process
};

struct Protocol;

// All options of a side with their default values.
Parameters standard_parameters(const Protocol& protocol, Role side);

// A protocol: its properties, and the functions that make both sides. A plain value, made once when the
// program starts. The functions may be called from any thread.
struct Protocol {
  std::string name;           // lower-case kebab
  std::string summary;        // one line
  std::string unavailable{};  // why this program cannot speak it, such as a missing library; empty if it can
  bool over_stream = true;    // works over a stream of bytes
  // Why it does not work over a transport of whole messages; empty if it does.
  std::string no_messages{};
  std::size_t head_bytes = 0;  // there, of a message beside its payload
  // True where no session of a server depends on another one, so that an engine may serve connections in
  // different processes. False is always safe.
  bool sessions_stand_alone = false;
  // True where the client's connections can rest between slices of time (LoadPlan::turns): all requests have
  // been answered then, and nothing is under way.
  bool takes_turns = false;
  // True where a slice would be a number of messages and not of time (LoadPlan::counted_turns), because a
  // message is long and cannot be broken off: the transfer of a file.
  bool counts_turns = false;
  // Options with which the connections of a load cannot rest all the same: one of them ends connections after
  // a number of messages, for instance.
  std::vector<std::string> options_without_turns{};
  // Why a connection of a load cannot be dialled again (LoadPlan::Reconnect), as text; empty where it can:
  // the next one then goes on with what is left, in a session of its own.
  std::string no_reconnect = "its client does not say that its connections may begin again";
  std::size_t least_payload = 1;          // bytes
  std::size_t largest_payload = 1 << 20;  // bytes
  std::string no_payload{};               // why --payload has no meaning; empty if it has
  // How many messages each connection of `load` sends if neither a count nor a time is given; 0: it runs for
  // a time.
  std::uint64_t standard_messages = 0;
  // True where a load without sockets shows the highest throughput of the client side. False where the server
  // does most of the work, which would slow the client down in the same process.
  bool has_ceiling = true;
  std::vector<ProtocolOption> options{};
  std::string url_scheme{};  // of a server's address in a browser, such as "http"; empty where it has none
  std::string verified = "byte for byte";  // how the client side checks replies, as text for reports

  // Make the service of a side. Throw std::invalid_argument for invalid options, with a message that says
  // what to do. The service must not outlive the LoadRun. Clients not made by exchange_client() ignore the
  // LoadRun; joust::Client runs them, without measurement.
  std::function<std::unique_ptr<Service>(const Parameters&)> make_server;
  std::function<std::unique_ptr<Service>(const Parameters&, LoadRun&)> make_client;

  // Throws what make_client would throw for options and a plan that do not fit one another, but opens no
  // file. A race asks it before the first trial. Empty: make_client alone decides.
  std::function<void(const Parameters&, const LoadPlan&)> check_client{};

  // Why an option that is given to a side has no effect there, for a client with these options; empty if it
  // has. Empty: all options have.
  std::function<std::string(const std::string& option, Role side, const Parameters& client)> no_effect{};

  // The options of a server whose load is repeated, as that of a race is: the given ones, and what a client
  // with these options needs besides. Throws std::invalid_argument where the given ones do not allow to
  // repeat it. Empty: the given ones.
  std::function<Settings(Settings given, const Parameters& client)> repeatable{};

  // What these options demand of engines; the plan of a server is null. Empty: nothing.
  std::function<Demands(const Parameters&, const LoadPlan*)> demands{};
};

// Makes the exchange of one connection; any thread, several at once.
using MakeExchange = std::function<std::unique_ptr<Exchange>(const Parameters&)>;

// A Protocol::make_client whose connections send the requests of exchanges by the load's plan, verify every
// reply and record its latency.
std::function<std::unique_ptr<Service>(const Parameters&, LoadRun&)> exchange_client(Framing framing,
                                                                                     MakeExchange make);

// A protocol in which every request has one reply, in order. Most protocols need no more.
struct RequestResponse {
  std::string name;     // lower-case kebab
  std::string summary;  // one line
  Framing framing = Raw{};
  std::function<std::unique_ptr<Handler>()> handler;  // for one connection; any thread, several at once
  MakeExchange exchange;
  // The least rate in bytes per second: of an incomplete message, over each 10 s, and of replies that the
  // peer has not read, over each minute. A slower peer is disconnected and counted. 0: no limit.
  std::uint64_t least_rate = 1024;
};

// The result has sessions_stand_alone set: clear it if handlers share state.
Protocol request_response(RequestResponse description);

}  // namespace joust
