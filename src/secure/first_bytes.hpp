// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "joust/bytes.hpp"

// What a peer's first bytes tell of its settings, where they differ from the own ones.
namespace joust {

// What a server that speaks TLS says to anything else: a record with an alert.
inline constexpr std::string_view kBeginsAlert = "\x15\x03";

// As far as its bytes have come, of which there is one at least.
inline bool begins_alert(Bytes first) {
  return kBeginsAlert.starts_with(as_text(first).substr(0, kBeginsAlert.size()));
}

}  // namespace joust
