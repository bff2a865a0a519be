// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "joust/time.hpp"

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

// How long a process waits for its relay to take a message.
inline constexpr Duration kToRelay = std::chrono::seconds(30);

// The reason where the other end has closed.
inline constexpr const char* kClosed = "the connection was closed";

// One end of a pair of sockets that carry frames. Both ends read while they write, so neither waits for the
// other for ever. One thread.
class FrameSocket {
 public:
  explicit FrameSocket(Fd socket);

  int get() const { return socket_.get(); }
  void close() { socket_.close(); }

  // Sends a frame. Returns the reason if the other end has closed, or has not taken it by the deadline.
  std::expected<void, std::string> send(const Frame& frame, Time deadline);
  // Sends what there is room for, from the first of the bytes of a frame on, and returns how many that were.
  // Does not wait.
  std::expected<std::size_t, std::string> send_some(std::string_view bytes);
  // Returns the next frame, or nothing if none has come by the deadline, or before a signal. Returns the
  // reason if none will come: the other end has closed, or sends something else.
  std::expected<std::optional<Frame>, std::string> receive(Time deadline);

 private:
  // Returns whether the socket is ready; nothing after a signal.
  std::optional<bool> wait(short events, Time deadline);
  std::expected<void, std::string> read_some();

  Fd socket_;
  FrameReader reader_{};
};

}  // namespace joust::hosts
