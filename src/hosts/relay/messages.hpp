// SPDX-License-Identifier: MIT
#pragma once

#include <mpi.h>

#include <cstdint>
#include <expected>
#include <list>
#include <optional>
#include <string>

#include "hosts/frame.hpp"
#include "joust/time.hpp"

namespace joust::hosts {

// The messages between relays, by MPI. No call waits inside MPI, because its waits are loops that take a
// whole CPU: each call asks whether it is done, and sleeps in between. A message is a head and then, if it
// is not empty, a body. One object in a process; one thread.
class Messages {
 public:
  Messages();  // initializes MPI
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  // Sends to the rank of the frame. Returns the reason if it was not taken in time.
  std::expected<void, std::string> send(const Frame& frame);
  // Returns a message that has come, with the rank of its sender; nothing if none has come. Nothing that the
  // last call of MPI has read goes unnoticed, so whoever has got nothing may sleep until bytes come.
  std::optional<Frame> receive();

  // Returns whether a rank still takes messages.
  bool reaches(int rank);

  // Reports the end of the work to a rank.
  void send_end(int to);
  bool end_has_come() const { return end_has_come_; }  // seen by receive()

  // Leaves MPI, with all other ranks. If they do not come, this process exits with the code.
  void leave(int exit_code);

 private:
  enum class Kind : std::int32_t { message, ended, end, nothing };
  struct Head {
    std::int32_t kind = 0;  // Kind
    std::int32_t bytes = 0;
  };

  enum Tag : int { kHead = 1, kBody = 2 };  // of MPI
  // A message whose head has come.
  struct Arriving {
    Frame frame{};                           // MPI writes its body
    MPI_Request request = MPI_REQUEST_NULL;  // of the body; null if it is empty
    Time deadline{};
    bool is_possible = true;  // its length is one of a message
  };

  bool send_bytes(std::string bytes, int to, Tag tag);
  bool send_head(int to, Kind kind, std::size_t bytes);
  void expect_head();
  void take_heads();
  void expect_body(const Head& head, int from);

  int rank_ = 0, size_ = 1;
  Head head_{};  // of the next message, from any rank
  MPI_Request next_ = MPI_REQUEST_NULL;
  std::list<Arriving> arriving_{};  // in their order
  // Transfers that were given up: MPI may read or write their bytes as long as it runs. A rank gives up a few
  // for each other rank at most, because that one counts as lost from then on.
  std::list<Arriving> given_up_{};
  std::list<std::string> sent_{};
  bool end_has_come_ = false;
};

}  // namespace joust::hosts
