// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

// What there is to race, as plain data: a race knows engines and protocols by name only, so that its logic
// can be tested with invented ones. The program fills this from its real tables.
namespace joust::race {

struct KnobRow {
  std::string name{};                  // "trigger"; the children take it as --trigger VALUE
  std::vector<std::string> choices{};  // empty: any text
  std::string default_value{};
  std::string
      kernel_thread{};  // the choice with which a thread of the kernel polls beside each loop; or none
};

struct EngineRow {
  std::string name{};
  bool serves = true;
  bool dials = true;
  bool in_process =
      false;  // the service answers without a socket: there is no server process, and no client engine
  std::string unavailable{};  // why it cannot run here; empty when it can
  std::vector<KnobRow> knobs{};
};

// An option of a protocol; the children take it as --NAME VALUE.
struct OptionRow {
  std::string name{};
  std::vector<std::string> choices{};  // empty: any text
  bool serves = true;                  // means something to the server,
  bool loads = true;                   // to the client
};

struct ProtocolRow {
  std::string name{};
  std::uint64_t least_payload_bytes = 1;
  std::uint64_t largest_payload_bytes = 1 << 20;
  bool has_ceiling = true;  // a load without sockets shows the most that the client can do
  std::vector<OptionRow> options{};
  std::string verified = "byte for byte";  // how replies are checked
  std::map<std::string, std::string> unsupported{};  // engines that cannot carry it, and why
};

struct Catalogue {
  std::vector<EngineRow> engines{};
  std::vector<ProtocolRow> protocols{};

  const EngineRow* engine(const std::string& name) const;      // null when there is none of that name
  const ProtocolRow* protocol(const std::string& name) const;  // likewise
};

}  // namespace joust::race
