// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "joust/bytes.hpp"

// Settings of a peer that its first bytes reveal, where they differ from this side's settings.
namespace joust {

// The beginning of a TLS server's answer to anything other than TLS: a record with an alert.
inline constexpr std::string_view kBeginsAlert = "\x15\x03";

// True if the bytes received so far, at least one, agree with the beginning of an alert.
inline bool begins_alert(Bytes first) {
  return kBeginsAlert.starts_with(as_text(first).substr(0, kBeginsAlert.size()));
}

}  // namespace joust
