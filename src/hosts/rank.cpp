// SPDX-License-Identifier: MIT
#include "hosts/rank.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace joust::hosts {
namespace {

namespace fs = std::filesystem;

std::optional<int> number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  int number = 0;
  const char* const end = text + std::strlen(text);
  const auto read = std::from_chars(text, end, number);
  if (read.ec != std::errc() || read.ptr != end || number < 0) return std::nullopt;
  return number;
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
              .on_one_host = number_in("OMPI_COMM_WORLD_LOCAL_SIZE") == size};
}

std::expected<std::string, std::string> relay_program() {
  std::error_code unknown;
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  for (const fs::path& candidate :
       {program.parent_path().parent_path() / JOUST_RELAY_INSTALLED, fs::path(JOUST_RELAY_BUILT)})
    if (!candidate.empty() && fs::exists(candidate, unknown)) return candidate.string();
  return std::unexpected(
      "several hosts need joust-relay: of the package joust-hosts, or built where Open MPI is "
      "(libopenmpi-dev and openmpi-bin; script/setup hosts)");
}

}  // namespace joust::hosts
