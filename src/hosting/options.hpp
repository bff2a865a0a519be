// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "engines/engine.hpp"
#include "joust/load_plan.hpp"
#include "joust/protocol.hpp"
#include "net/address.hpp"
#include "net/socket_options.hpp"
#include "net/transport.hpp"

// What a program asks of engines, protocols and addresses, checked. The command line and the classes for
// embedding share these functions, so that both refuse in the same words: std::invalid_argument for what
// cannot be asked, std::runtime_error for what this machine cannot do.
namespace joust {

class Tally;

// Nothing was begun, because this machine cannot do it as it is now: no interface carries the group.
struct Skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Refuses a protocol that this program cannot speak.
void check_available(const Protocol& protocol);

// The engine: it exists, has the role, has the knobs and their values, can carry the protocol and can run
// here; the protocol is available.
const Engine& checked_engine(const std::string& name, const Settings& knobs, Role role,
                             const Protocol& protocol);

// Knobs that are not given have their defaults; `threads` is 1 for engines without several loops.
EngineOptions engine_options(const Engine& engine, unsigned threads, Wait wait, const Settings& knobs);

// Refuses options that the protocol does not have, or not for the sides that this process plays.
void check_options(const Protocol& protocol, const Settings& given, bool serves, bool loads);

// Refuses options of the client that have no effect together with its others.
void check_effects(const Protocol& protocol, const Settings& given, const Parameters& client);

// All options the protocol has for a side; those not given have their defaults.
Parameters parameters_of(const Protocol& protocol, const Settings& given, Role side);

// Refuses options that the side's own engine cannot meet. The plan of a server is null.
void check_demands(const Engine& engine, const Protocol& protocol, const Parameters& parameters,
                   const LoadPlan* plan);

// As many threads as the engine may have.
void check_threads(const Engine& engine, std::uint64_t threads);
// A load that waits for all its connections would wait for ever.
void check_connections(const Engine& engine, std::uint64_t threads, std::uint64_t connections);

void check_payload(const Engine& engine, const Protocol& protocol, std::size_t payload);

// Throws where `value` is not between both; `option` as the command line names it: "-t,--threads".
void check_between(const char* option, std::uint64_t value, std::uint64_t least, std::uint64_t most);

// Refuses what no load can be: see objection_to() in load/settings.hpp.
void check_load(const LoadPlan& plan);

// Refuses to reconnect where it cannot be.
void check_reconnect(const LoadPlan& plan, const Engine& engine, const Protocol& protocol);

// Where to listen. The standard limit applies to names. An address that other machines can reach has to be
// allowed, and cannot be with an engine that is not public. An engine that sends to a group needs one that
// can be had with these knobs, or throws Skipped.
std::vector<Endpoint> checked_listen(const std::string& address, bool is_public, const Engine& engine,
                                     const Settings& knobs);

// Engines with sockets need an address to dial, the others must have none.
void check_connect(const std::string& address, const Engine& engine);
// `option` is named where the address cannot be.
std::vector<Endpoint> resolved_target(const std::string& address, Duration resolve_limit,
                                      const char* option = "--connect");
// The same for an engine that may send to a group only.
std::vector<Endpoint> resolved_target(const std::string& address, Duration resolve_limit,
                                      const Engine& engine, const Settings& knobs);

// Refuses an address that sockets of the transport cannot have. Of streams, settles whether sockets of the
// endpoint's kind get the congestion control: one that the user has chosen and this machine refuses throws;
// where the default is refused, the machine's own takes its place, and the tally notes it.
void settle_socket(SocketOptions& options, bool congestion_chosen, const Endpoint& endpoint,
                   Transport transport, Tally& tally);

}  // namespace joust
