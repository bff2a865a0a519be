// SPDX-License-Identifier: MIT
#include "race/trial/load_process.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <utility>

namespace joust::race {

std::string LoadProcess::path() const {
  return processes_.load.folder->path() + "/result.json";
}

Step<> LoadProcess::start(ChildCommand command, const std::string& address) {
  processes_.load.folder.emplace();
  if (!address.empty()) command.words.insert(command.words.end(), {"--connect", address});
  command.words.insert(command.words.end(), {"--json", path()});
  return processes_.start(processes_.load, command);
}

Step<std::string> LoadProcess::document() const {
  std::ostringstream text;
  text << std::ifstream(path()).rdbuf();
  const Child& child = *processes_.load.child;
  if (child.exit_code() >= 0 && !text.str().empty()) return text.str();
  const std::vector<std::string> said = child.last_words();
  return std::unexpected(
      failure_of(processes_.load, fmt::format("the load has no result: {}{}", child.how_it_ended(),
                                              said.empty() ? "" : ": " + said.back())));
}

}  // namespace joust::race
