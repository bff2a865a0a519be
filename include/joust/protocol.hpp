// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "joust/handler.hpp"
#include "joust/service.hpp"
#include "joust/settings.hpp"

namespace joust {

struct LoadPlan;      // load_plan.hpp
struct MessageTrace;  // load/shown_messages.hpp
class LoadRun;        // one load: its schedule and its records, used by exchange_client()

// A setting of one or several protocols, as data: the command line, scenarios and results all read it from
// here. Options of the same name have the same meaning in every protocol.
struct ProtocolOption {
  std::string name;      // "flush", which becomes --flush
  std::string summary;   // one line
  std::string standard;  // its default value
  // Empty: any text. {"no", "yes"}: a switch, set to yes by its bare name.
  std::vector<std::string> choices{};
  // Whether the value may be in a file: not; after @, as @FILE; likewise, of an option whose value has
  // escapes such as \x40; or always, unless it has a line's end or a '='.
  enum class FromFile : std::uint8_t { no, after_at, escaped_after_at, always } from_file = FromFile::no;
  bool is_list = false;  // may be given several times: the value has a line for each
  bool serves = true;    // valid for the server
  bool loads = true;     // valid for the client side
  // False if the option costs the server's time: the ceiling of a load, measured in one process, is measured
  // without it.
  bool in_ceiling = true;
};

// Returns the value of an option as given, or the content of the file that it names, in a form that
// read_value() leaves as it is. An error says why the file cannot be read.
std::expected<std::string, std::string> read_value(const ProtocolOption& option, const std::string& given);

// The settings of one side of a protocol.
struct Parameters {
  std::size_t payload = 32;      // bytes of one message, without framing
  std::uint64_t connection = 0;  // 0, 1, 2 ...: the connection's number in the load (exchanges only)
  // Requests of earlier connections that this one continues (exchanges only): request number n of this
  // connection is number first_request + n of the load's channel.
  std::uint64_t first_request = 0;
  Delivery delivery{};       // exchanges only
  bool on_loopback = false;  // other machines cannot reach the addresses (servers only)
  Settings options{};        // every option of the protocol for this side, by name
  // Receives each message, and outlives the service; null: nobody wants them (exchanges only).
  const MessageTrace* trace = nullptr;

  // Throws std::out_of_range for a name that is not an option of this side.
  const std::string& option(const std::string& name) const { return options.at(name); }
};

// Demands of one side's options on its engine, in addition to those of the protocol.
struct Demands {
  bool file_ring = false;         // files received through a ring (Filling::ring)
  bool file_mapping = false;      // bytes sent from the mapping of a file
  std::string stream{};           // a transport of a stream, for this reason; empty: not demanded
  std::string messages{};         // a transport of whole messages, likewise
  std::string common_sessions{};  // all sessions in one process, for this reason; empty: not demanded
  // The option of a server by which a request may keep its thread for more than 1 ms; empty: none does. Where
  // peers share threads, one address can keep all others waiting then.
  std::string long_work{};
};

struct Protocol;

// Returns all options of a side with their default values.
Parameters standard_parameters(const Protocol& protocol, Role side);
// Returns the same with the given values of options that the side has.
Parameters parameters_of(const Protocol& protocol, const Settings& given, Role side);

// A protocol: its properties, and the functions that make both sides. A plain value, made once when the
// program starts. The functions may be called from any thread.
struct Protocol {
  std::string name;         // lower-case kebab
  std::string summary;      // one line
  std::string plugin{};     // the absolute path of the plug-in that it comes from; empty for others
  bool over_stream = true;  // works over a stream of bytes
  // Why it does not work over a transport of whole messages; empty if it does.
  std::string no_messages{};
  std::size_t head_bytes = 0;  // over messages: bytes of a message beside its payload
  // True if no session of a server depends on another one, so that an engine may serve connections in
  // different processes. False is always safe.
  bool sessions_stand_alone = false;
  // True if the client's connections can rest between slices of time (LoadPlan::turns): then all requests
  // have been answered, and none is under way.
  bool takes_turns = false;
  // True if a slice must be a number of messages and not of time (LoadPlan::counted_turns), because a message
  // is long and cannot be interrupted: the transfer of a file.
  bool counts_turns = false;
  // Options with which the connections of a load cannot rest, for instance because an option ends connections
  // after a number of messages.
  std::vector<std::string> options_without_turns{};
  // Why a connection of a load cannot be dialled again (LoadPlan::Reconnect), as text. Empty if it can: the
  // next connection then continues the remaining work, in a session of its own.
  std::string no_reconnect = "its client does not say that its connections may begin again";
  std::size_t least_payload = 1;          // bytes
  std::size_t largest_payload = 1 << 20;  // bytes
  std::string no_payload{};               // why --payload has no meaning; empty if it has
  // Returns why --payload has no meaning for a client with these options; empty if it has. Empty function:
  // `no_payload` alone decides.
  std::function<std::string(const Parameters& client)> payload_unused{};
  // The messages that each connection of `load` sends if neither a count nor a time is given; 0: it runs for
  // a time.
  std::uint64_t standard_messages = 0;
  // True if a load without sockets shows the highest throughput of the client side. False if the server does
  // most of the work, which would slow the client down in the same process.
  bool has_ceiling = true;
  std::vector<ProtocolOption> options{};
  std::string url_scheme{};  // of a server's address in a browser, such as "http"; empty if it has none
  // The question that a failed load asks where no reply was right. Empty: whether it is a server of this
  // protocol.
  std::string doubt{};
  std::string verified = "byte for byte";  // how the client side checks replies, as text for reports

  // Returns how a client with these options checks replies, in place of `verified`; an empty text if it takes
  // any reply for right. Empty function: `verified`.
  std::function<std::string(const Parameters& client)> verified_by{};

  // Make the service of a side. Throw std::invalid_argument for invalid options, with a message that names
  // the remedy. The service must not outlive the LoadRun. Clients not made by exchange_client() ignore the
  // LoadRun; joust::Client runs them, without measurement.
  std::function<std::unique_ptr<Service>(const Parameters&)> make_server;
  std::function<std::unique_ptr<Service>(const Parameters&, LoadRun&)> make_client;

  // Throws the exceptions of make_client for options and a plan that do not fit one another, but opens no
  // file. A race calls it before the first trial. Empty: make_client alone decides.
  std::function<void(const Parameters&, const LoadPlan&)> check_client{};

  // Throws std::invalid_argument for options that do not fit one another on a server whose process has no
  // client. Called before make_server. Empty: make_server alone decides.
  std::function<void(const Parameters&)> check_server{};

  // Returns why an option of a side has no effect, for a client with these options; empty if it has one.
  // Empty function: all options have an effect.
  std::function<std::string(const std::string& option, Role side, const Parameters& client)> no_effect{};

  // Returns why a load has no ceiling, because a server with these options cannot answer a client with those
  // in one process; empty if it can. Empty function: `has_ceiling` alone decides.
  std::function<std::string(const Parameters& server, const Parameters& client)> no_ceiling{};

  // Returns the options of a server whose load is repeated, as in a race: the given ones, and those that a
  // client with these options needs in addition. Throws std::invalid_argument if the given ones do not allow
  // a repetition. Empty: the given ones.
  std::function<Settings(Settings given, const Parameters& client)> repeatable{};

  // Returns the demands of these options on engines; the plan of a server is null. Empty: no demands.
  std::function<Demands(const Parameters&, const LoadPlan*)> demands{};
};

// Makes the exchange of one connection; any thread, several at once.
using MakeExchange = std::function<std::unique_ptr<Exchange>(const Parameters&)>;

// Returns a Protocol::make_client whose connections send the requests of exchanges by the load's plan, verify
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
  // The least rate in bytes per second: of an incomplete message, over each 10 s, and of replies that the
  // peer has not read, over each minute. A slower peer is disconnected and counted. 0: no limit.
  std::uint64_t least_rate = 1024;
};

// Makes a protocol with sessions_stand_alone set: clear it if handlers share state.
Protocol request_response(RequestResponse description);

}  // namespace joust
