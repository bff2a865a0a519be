// SPDX-License-Identifier: MIT
#include "hosts/rank.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/files.hpp"

namespace joust::hosts {
namespace {

std::optional<int> number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  int number = 0;
  const char* const end = text + std::strlen(text);
  const auto read = std::from_chars(text, end, number);
  if (read.ec != std::errc() || read.ptr != end || number < 0) return std::nullopt;
  return number;
}

// The system shows the environment of a program from its memory, so the bytes are overwritten too.
std::string taken_key() {
  char* const variable = std::getenv(kKeyVariable);
  if (variable == nullptr) return {};
  std::string key = variable;
  for (std::size_t i = 0; i < key.size(); ++i) static_cast<volatile char*>(variable)[i] = 0;
  ::unsetenv(kKeyVariable);
  return key;
}

}  // namespace

std::optional<Rank> take_rank() {
  const auto size = number_in("OMPI_COMM_WORLD_SIZE"), rank = number_in("OMPI_COMM_WORLD_RANK");
  if (!size || !rank || *size < 2 || *rank >= *size) return std::nullopt;
  const auto relay = number_in(kRelayVariable);
  if (relay)
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", kRelayVariable})
      ::unsetenv(name);
  return Rank{.rank = *rank,
              .size = *size,
              .relay = relay.value_or(-1),
              .on_one_host = number_in("OMPI_COMM_WORLD_LOCAL_SIZE") == size,
              .key = relay ? taken_key() : std::string()};  // the relay passes it on
}

std::expected<std::string, std::string> relay_program() {
  if (const auto relay = own_file(JOUST_RELAY_INSTALLED, JOUST_RELAY_BUILT); !relay.empty())
    return relay.string();
  return std::unexpected(fmt::format(
      "several hosts need joust-relay: of the package joust-hosts, or built where Open MPI 4 is, which is "
      "not Open MPI 5 (libopenmpi-dev and openmpi-bin; script/setup hosts): {}",
      why_no_own_file(JOUST_RELAY_INSTALLED)));
}

}  // namespace joust::hosts
