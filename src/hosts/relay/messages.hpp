// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "hosts/frame_socket.hpp"

namespace joust::hosts {

// The messages between relays, by MPI. No call waits inside MPI, because its waits are loops that take a
// whole CPU: each call asks whether it is done, and sleeps in between. One object in a process; one thread.
class Messages {
 public:
  Messages();  // initializes MPI
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  // Sends to the rank of the frame. Returns the reason if it was not taken in time.
  std::expected<void, std::string> send(const Frame& frame);
  // Returns a message that has come, with the rank of its sender; nothing if none has come.
  std::optional<Frame> receive();

  // Returns whether a rank still takes messages.
  bool reaches(int rank);

  // Reports the end of the work to a rank.
  void send_end(int to);
  bool end_has_come();  // from rank 0

  // Leaves MPI, with all other ranks. If they do not come, this process exits with the code.
  void leave(int exit_code);

 private:
  int rank_ = 0, size_ = 1;
};

}  // namespace joust::hosts
