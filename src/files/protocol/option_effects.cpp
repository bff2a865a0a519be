// SPDX-License-Identifier: MIT
#include "files/protocol/option_effects.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace joust::file {
namespace {

constexpr auto kOverwrite = "overwrite", kAccess = "access";

}  // namespace

std::string no_effect(const std::string& option, Role side, const Parameters& client) {
  if (option != "file-read" && option != "file-write") return {};
  const std::string& op = client.option("op");
  if (op == "info") return "--op info carries no file";
  const Role sender = op == "put" ? Role::dial : Role::serve;
  const bool reads = option == "file-read";
  if (reads == (side == sender)) return {};
  const char* const other = side == Role::serve ? "client" : "server";
  return fmt::format("with --op {} the {} {} the file", op, other, reads ? "reads" : "writes");
}

// Lets a race overwrite its files in memory: they belong to the race alone, and a user who measures writes
// expects the files to be written again. The files of a directory belong to the user. A server that only
// gives files takes none, so that an engine with a process for each connection can be one.
Settings repeatable(Settings server, const Parameters& client) {
  if (client.option("op") != "put") {
    server.emplace(kAccess, "read");
    return server;
  }
  const auto given = server.find(kOverwrite);
  if (given == server.end() && !server.contains("root")) {
    server.emplace(kOverwrite, "yes");
  } else if (given == server.end() || given->second != "yes") {
    throw std::invalid_argument(
        "--op put: a race uploads the same file many times, and the server would keep the first; say "
        "--overwrite yes, or neither --root nor --overwrite for files in memory");
  }
  return server;
}

}  // namespace joust::file
