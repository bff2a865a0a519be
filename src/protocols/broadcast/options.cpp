// SPDX-License-Identifier: MIT
#include "protocols/broadcast/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "base/units.hpp"
#include "protocols/broadcast/room_log.hpp"
#include "protocols/websocket/client_side.hpp"

namespace joust::broadcast {
namespace {

std::uint64_t bytes_of(const Parameters& parameters, const std::string& option) {
  const auto bytes = parse_bytes(parameters.option(option));
  if (!bytes) throw std::invalid_argument(fmt::format("--{}: {}", option, bytes.error()));
  return *bytes;
}

std::uint64_t room_bytes(const Parameters& parameters) {
  const std::uint64_t bytes = bytes_of(parameters, "room-bytes");
  if (bytes >= RoomLog::kLargest) return bytes;
  throw std::invalid_argument(fmt::format("--room-bytes: at least {}", RoomLog::kLargest));
}

}  // namespace

std::vector<ProtocolOption> options() {
  std::vector<ProtocolOption> all{
      {.name = "framing",
       .summary = "frames are behind a length, or each is a binary message of WebSocket (websocket)",
       .standard = "length",
       .choices = {"length", "websocket"}},
      {.name = "flush",
       .summary = "send all that is waiting in one go (batch), or every message to every member alone (each)",
       .standard = "batch",
       .choices = {"batch", "each"},
       .loads = false},
      {.name = "room-bytes",
       .summary = "kept for slow members; who falls further behind is disconnected",
       .standard = "64MiB",
       .loads = false},
      {.name = "member-rate",
       .summary = "bytes per second that a member may publish; 0: as many as slow members keep up with",
       .standard = "0",
       .loads = false},
      {.name = "min-rate",
       .summary = "bytes per second: a member that sends a frame or reads slower is disconnected; 0: none is",
       .standard = "1KiB",
       .loads = false}};
  std::ranges::move(websocket::handshake_options(), std::back_inserter(all));
  return all;
}

std::string no_effect(const std::string& option, Role /*side*/, const Parameters& client) {
  const bool of_handshakes = option == "path" || option == "host";
  if (!of_handshakes || client.option("framing") == "websocket") return {};
  return "only --framing websocket has a handshake";
}

Demands demands_of(const Parameters& parameters) {
  if (parameters.option("framing") != "websocket") return {};
  return {.stream = "WebSocket is a protocol of a stream (--framing websocket)"};
}

RoomRules room_rules(const Parameters& parameters) {
  return {.each_alone = parameters.option("flush") == "each",
          .room_bytes = room_bytes(parameters),
          .member_rate = bytes_of(parameters, "member-rate"),
          .rates = RateRules::of(bytes_of(parameters, "min-rate")),
          .carriage = carriage_of(parameters)};
}

}  // namespace joust::broadcast
