// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "joust/settings.hpp"

// An engine with its settings, as text: "epoll:trigger=level". Commands and scenarios read it here, so both
// take the same texts and refuse others in the same words.
namespace joust {

struct Engine;  // engine.hpp

inline constexpr std::uint64_t kMostThreads = 1024;

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
                                          const std::string& value, const Engine& engine,
                                          const std::function<bool(const std::string&)>& is_option);

// Returns why the engine cannot have this number of threads, or nothing.
std::optional<std::string> thread_number_objection(const Engine& engine, std::uint64_t threads);

}  // namespace joust
