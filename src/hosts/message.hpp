// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace joust::hosts {

// The most levels of a message. JSON is copied and printed by recursion, so a deeper one could exhaust the
// stack.
inline constexpr int kMostLevels = 64;

// Reads a message of another host. Returns a discarded value for other texts, and for one that is too deep.
template <typename Json = nlohmann::json>
Json message_in(std::string_view text) {
  bool is_too_deep = false;
  Json message = Json::parse(
      text,
      [&](int level, typename Json::parse_event_t, Json&) {
        is_too_deep = is_too_deep || level > kMostLevels;
        return !is_too_deep;
      },
      false);
  return is_too_deep ? Json(Json::value_t::discarded) : message;
}

}  // namespace joust::hosts
