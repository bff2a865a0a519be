// SPDX-License-Identifier: MIT
#include <algorithm>
#include <charconv>
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

std::optional<Entry> Store::find(std::string_view tag_or_id) {
  std::int64_t number = 0;
  const char* const end = tag_or_id.data() + tag_or_id.size();
  const bool is_number = !tag_or_id.empty() && std::from_chars(tag_or_id.data(), end, number).ptr == end;
  for (const Entry& entry : entries())
    if ((is_number && entry.id == number) || std::ranges::count(entry.tags, tag_or_id) > 0) return entry;
  return std::nullopt;
}

}  // namespace joust::history
