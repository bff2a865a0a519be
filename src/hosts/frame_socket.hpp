// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "hosts/frame.hpp"
#include "joust/time.hpp"

namespace joust::hosts {

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
