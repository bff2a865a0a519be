// SPDX-License-Identifier: MIT
#include "protocols/websocket/options.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "base/printable.hpp"
#include "base/units.hpp"
#include "protocols/http/field_text.hpp"

namespace joust::websocket {
namespace {

constexpr std::size_t kMostFragments = 10'000;  // of a message
constexpr std::size_t kLongestPath = 2 << 10;   // bytes

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
  return {
      {.name = "path",
       .summary = "what a load asks for in the handshake; joust's servers take any path",
       .standard = "/",
       .serves = false},
      {.name = "host",
       .summary = "the field Host of a load's handshakes",
       .standard = "localhost",
       .serves = false},
      {.name = "frame",
       .summary = "a load's messages are binary, or text: printable ASCII",
       .standard = "binary",
       .choices = {"binary", "text"},
       .serves = false},
      {.name = "fragment",
       .summary = "bytes of a message in each frame, the last one has the rest; 0: a message is one frame",
       .standard = "0",
       .serves = false}};
}

Manner manner(const Parameters& parameters) {
  const std::string &path = parameters.option("path"), &host = parameters.option("host");
  if (!path.starts_with('/') || !http::is_one_word(path) || path.size() > kLongestPath)
    throw std::invalid_argument(
        fmt::format("--path '{}': say a path such as /chat, without blanks and of at most {} bytes",
                    printable(path), kLongestPath));
  if (!http::is_one_word(host))
    throw std::invalid_argument(fmt::format("--host: '{}': say a name or an address", printable(host)));
  return {.path = path,
          .host = host,
          .opcode = parameters.option("frame") == "text" ? Opcode::text : Opcode::binary,
          .fragment = fragment_of(parameters)};
}

}  // namespace joust::websocket
