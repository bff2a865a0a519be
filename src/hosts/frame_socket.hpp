// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>

#include "base/fd.hpp"
#include "joust/time.hpp"

namespace joust::hosts {

// The most bytes of a message: the result of a load has some hundred KiB.
inline constexpr std::size_t kMostMessageBytes = std::size_t{64} << 20;

// How long a process waits for its relay to take a message.
inline constexpr Duration kToRelay = std::chrono::seconds(30);

// A message between a process of joust and its relay (relay/relay.hpp).
struct Frame {
  enum class Kind : unsigned char {
    message,  // from or to the process of `rank`
    ended,    // that process has ended, or cannot be reached; the body is the reason
  };
  Kind kind = Kind::message;
  int rank = 0;
  // The time for which no reply will come, so that nobody needs to look for it.
  std::chrono::milliseconds quiet{};
  std::string body{};
};

// One end of a pair of sockets. A frame is a line, "message 2 17 0" (the last are bytes and milliseconds),
// then the bytes of the body. Both ends read while they write, so neither waits for the other for ever. One
// thread.
class FrameSocket {
 public:
  explicit FrameSocket(Fd socket);

  int get() const { return socket_.get(); }
  void close() { socket_.close(); }

  // Sends a frame. Returns the reason if the other end has closed, or has not taken it by the deadline.
  std::expected<void, std::string> send(const Frame& frame, Time deadline);
  // Returns the next frame, or nothing if none has come by the deadline. Returns the reason if none will
  // come: the other end has closed, or sends something else.
  std::expected<std::optional<Frame>, std::string> receive(Time deadline);

 private:
  bool wait(short events, Time deadline);
  std::expected<void, std::string> read_some();
  std::expected<std::optional<Frame>, std::string> take();

  Fd socket_;
  std::string came_{};  // bytes that are no whole frame yet, or not taken yet
};

}  // namespace joust::hosts
