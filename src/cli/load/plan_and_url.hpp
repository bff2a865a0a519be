// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "joust/load_plan.hpp"
#include "joust/settings.hpp"

// The parts of a load that come from a result of an earlier one, or from the address of a page.
namespace joust {

// The choices of a load beside its plan, as the result of `load --json` has them.
struct StoredChoice {
  std::string protocol{};  // its name, or the path of its plug-in
  Settings options{};      // of the protocol, also those that have their default value
  std::string address{};   // empty in process
  std::string engine{};
  std::uint64_t threads = 1;
  std::string wait{};
  Settings knobs{};             // every knob of the engine
  std::optional<bool> nodelay;  // not of sockets without TCP
  std::optional<std::string> congestion;
  std::uint64_t send_buffer = 0, receive_buffer = 0;  // bytes that were asked for; 0: the kernel's choice
};

struct PlannedLoad {
  LoadPlan plan{};
  std::optional<StoredChoice> choice{};  // only of a result
};

// Reads a plan from a file, or from the text itself if it is a JSON object. The error says why it is no plan
// of a load, or what of a result cannot be repeated.
std::expected<PlannedLoad, std::string> read_planned(const std::string& given);

// The parts of an address of HTTP or WebSocket.
struct LoadUrl {
  std::string protocol{};  // "http" or "websocket"
  std::string address{};   // to connect to: "127.0.0.1:8080"
  std::string host{};      // as it was written, for the field Host
  bool secure = false;     // https:// or wss://
  std::string path{};      // with the query; "/" if there is none
};

// Parses "http://HOST[:PORT][/PATH]", or https://, ws:// and wss://; the port is 80 or 443 if there is none.
// An error says what is wrong.
std::expected<LoadUrl, std::string> parse_load_url(std::string_view text);

}  // namespace joust
