// SPDX-License-Identifier: MIT
#include "protocols/websocket/options.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "base/units.hpp"

namespace joust::websocket {
namespace {

constexpr std::size_t kMostFragments = 10'000;  // of a message

std::size_t fragment_of(const Parameters& parameters) {
  const auto bytes = parse_bytes(parameters.option("fragment"));
  if (!bytes) throw std::invalid_argument("--fragment: " + bytes.error());
  if (*bytes == 0 || *bytes >= parameters.payload) return kLargestMessage;
  if (parameters.payload > *bytes * kMostFragments)
    throw std::invalid_argument(fmt::format(
        "--fragment: a message of {} bytes has more than {} fragments of {} bytes; say at least {}",
        parameters.payload, kMostFragments, *bytes,
        (parameters.payload + kMostFragments - 1) / kMostFragments));
  return *bytes;
}

}  // namespace

std::vector<ProtocolOption> options() {
  std::vector<ProtocolOption> all = handshake_options();
  all.push_back({.name = "frame",
                 .summary = "a load's messages are binary, or text: printable ASCII",
                 .standard = "binary",
                 .choices = {"binary", "text"},
                 .serves = false});
  all.push_back(
      {.name = "fragment",
       .summary = "bytes of a message in each frame, the last one has the rest; 0: a message is one frame",
       .standard = "0",
       .serves = false});
  return all;
}

Manner manner(const Parameters& parameters) {
  return {.asked = asked(parameters),
          .opcode = parameters.option("frame") == "text" ? Opcode::text : Opcode::binary,
          .fragment = fragment_of(parameters)};
}

}  // namespace joust::websocket
