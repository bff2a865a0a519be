// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace joust::hosts {

// The most bytes of a message: the result of a load has some hundred KiB.
inline constexpr std::size_t kMostMessageBytes = std::size_t{64} << 20;

// A message between a process of joust and its relay (relay/main.cpp).
struct Frame {
  enum class Kind : unsigned char {
    message,    // from or to the process of `rank`
    ended,      // that process has ended, or cannot be reached; the body is the reason
    interrupt,  // to that process: its relay asks it to end in order, as a terminal does (SIGINT); no body
  };
  Kind kind = Kind::message;
  int rank = 0;
  std::string body{};
};

// Returns the bytes of a frame: a line, "message 2 17" (the kind, the rank, the bytes of the body), then the
// body.
std::string bytes_of(const Frame& frame);

// Reads frames from bytes that come in any pieces.
class FrameReader {
 public:
  void take(std::string_view bytes) { came_.append(bytes); }
  std::size_t held() const { return came_.size(); }
  // Returns the next frame, or nothing if it has not come yet. Fails for good where something else has come.
  std::expected<std::optional<Frame>, std::string> next();

 private:
  std::string came_{};  // bytes that are no whole frame yet, or not taken yet
};

}  // namespace joust::hosts
