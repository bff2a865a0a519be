// SPDX-License-Identifier: MIT
#include "protocols/broadcast/options.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "base/text.hpp"
#include "protocols/broadcast/room_log.hpp"

namespace joust::broadcast {
namespace {

std::uint64_t room_bytes(const Parameters& parameters) {
  const auto bytes = parse_bytes(parameters.option("room-bytes"));
  if (!bytes) throw std::invalid_argument("--room-bytes: " + bytes.error());
  if (*bytes < RoomLog::kLargest)
    throw std::invalid_argument(fmt::format("--room-bytes: at least {}", RoomLog::kLargest));
  return *bytes;
}

}  // namespace

std::vector<ProtocolOption> options() {
  return {{.name = "flush",
           .summary =
               "send all that is waiting in one go (batch), or every message to every member alone (each)",
           .standard = "batch",
           .choices = {"batch", "each"},
           .loads = false},
          {.name = "room-bytes",
           .summary = "kept for slow members; who falls further behind is disconnected",
           .standard = "64MiB",
           .loads = false}};
}

RoomRules room_rules(const Parameters& parameters) {
  return {.each_alone = parameters.option("flush") == "each", .room_bytes = room_bytes(parameters)};
}

}  // namespace joust::broadcast
