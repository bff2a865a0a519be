// SPDX-License-Identifier: MIT
#include <cstdlib>
#include <stdexcept>

#include "history/store.hpp"

namespace joust::history {

std::string default_path() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  const std::string state = variable("XDG_STATE_HOME"), home = variable("HOME");
  if (state.starts_with('/')) return state + "/joust/history.db";  // a relative one counts as none
  if (home.empty()) throw std::runtime_error("neither HOME nor XDG_STATE_HOME says where the history is");
  return home + "/.local/state/joust/history.db";
}

}  // namespace joust::history
