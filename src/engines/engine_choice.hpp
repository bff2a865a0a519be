// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joust/settings.hpp"

// An engine with its settings, as text: "epoll:trigger=level". Commands and scenarios read it here, so both
// take the same texts and refuse others in the same words.
namespace joust {

struct Engine;  // engine.hpp

inline constexpr std::uint64_t kMostThreads = 1024;

// Plain data about engines, so that tests can invent some.
struct KnobRow {
  std::string name{};                  // "trigger"; passed to the children as --trigger VALUE
  std::vector<std::string> choices{};  // empty: any text
  std::string default_value{};
  std::string kernel_thread{};  // the choice with which a kernel thread polls beside each loop; may be empty
  std::map<std::string, std::string> unavailable{};  // choices that are unavailable here, with the reason
};

struct EngineRow {
  std::string name{};
  bool serves = true;
  bool dials = true;
  bool tcp = true;  // its sockets have the options of TCP
  // The address at which its server listens.
  std::string listen = "127.0.0.1:0";
  // The words for its delivery. Engines with different words cannot exchange messages. Empty: a stream.
  std::string delivery{};
  bool several_loops = false;       // the number of its event loops or workers can be chosen,
  std::uint64_t least_threads = 1;  // and is at least this
  bool separate_processes = false;  // a process for each connection: usage of the first process says little
  bool in_build = true;       // otherwise only its name is known, and why (`unavailable`)
  bool in_process = false;    // the service answers without a socket: no server process, no client engine
  std::string unavailable{};  // why it cannot run here; empty if it can
  std::string not_public{};   // why strangers must not reach its server; empty if they may
  std::vector<KnobRow> knobs{};
};

// The row of an engine of this program. Asks this machine what the engine can do here.
EngineRow row_of(const Engine& engine);

// The engine of one side, with its settings.
struct EngineChoice {
  std::string engine{};
  std::uint64_t threads = 1;
  bool threads_given = false;  // otherwise a client may get more (choose_client_threads())
  std::string wait = "block";
  std::optional<bool> nodelay{};  // TCP_NODELAY of this side, if it differs from that of all
  std::string transport = "tcp";  // of a server in a race: tcp or unix
  Settings knobs{};
  Settings options{};  // options of the protocol, for this contestant alone

  bool operator==(const EngineChoice&) const = default;
};

// Returns the settings of the text "NAME:KNOB=VALUE:...", not compared with any engine. The error reports
// what is wrong.
std::expected<Settings, std::string> settings_of_text(std::string_view text);

// Sets one knob of the choice. The engine's own go to `knobs`; threads, wait, nodelay and transport, which
// all engines have, to their members; a name for which `is_option` holds to `options`, unchecked: it belongs
// to the protocol. The error names the allowed values and the nearest match. An engine that is not in this
// build takes any, because it is listed with the reason and never runs.
std::expected<void, std::string> set_knob(EngineChoice& choice, const std::string& knob,
                                          const std::string& value, const EngineRow& engine,
                                          const std::function<bool(const std::string&)>& is_option);

// Returns why the engine cannot have this number of threads, or nothing.
std::optional<std::string> thread_number_objection(const EngineRow& engine, std::uint64_t threads);

}  // namespace joust
