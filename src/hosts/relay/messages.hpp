// SPDX-License-Identifier: MIT
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "hosts/frame.hpp"
#include "joust/time.hpp"

namespace joust::hosts {

// The messages between relays, by MPI. A message is a head and then, if it is not empty, a body. No call
// waits: MPI's own waits are loops that take a whole CPU. One object in a process; one thread.
class Messages {
 public:
  Messages();  // initializes MPI
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  // Begins to send to the rank of the frame. If it is not taken in time, receive() returns the reason, and
  // that rank counts as lost: the same reason is then returned for each message to it.
  void send(Frame frame);
  // Begins to find out whether a rank still takes messages. It is lost if it does not.
  void probe(int rank);
  // Begins to report the end of the work to a rank.
  void send_end(int to);
  // Returns whether a message of each rank has come with which this one exchanges any: rank 0 with all, the
  // others with rank 0.
  bool has_heard_all() const {
    return rank_ == 0 ? heard_.size() + 1 == static_cast<std::size_t>(size_) : heard_.contains(0);
  }
  bool end_has_come() const { return end_has_come_; }  // seen by receive()
  // Returns whether rank 0 has asked for the end in order of this rank's process, once for each time.
  bool take_interrupt() { return std::exchange(interrupt_has_come_, false); }
  bool is_lost(int rank) const { return lost_.contains(rank); }

  // Returns a message that has come, with the rank of its sender, or the end of a rank; nothing if none has
  // come. To be called again and again while transfers are under way: it moves them on.
  std::optional<Frame> receive();
  // Returns whether no transfer is under way and receive() has nothing. The caller may then sleep until bytes
  // come: nothing that MPI has read goes unnoticed, and it holds nothing to be sent.
  bool is_at_rest() const { return sending_.empty() && arriving_.empty() && ends_.empty(); }
  // Returns whether another message may be begun.
  bool has_room() const;

  // Leaves MPI, with all other ranks. If they do not come, this process exits with the code.
  void leave(int exit_code);

 private:
  enum class Kind : std::int32_t { message, ended, end, nothing, interrupt };
  enum Tag : int { kHead = 1, kBody = 2 };  // of MPI
  enum class Progress : unsigned char { under_way, done, failed };
  struct Head {
    std::int32_t kind = 0;  // Kind
    std::int32_t bytes = 0;
  };
  // A message, or a part of one that has no other. MPI reads or writes its bytes: it stays where it is.
  struct Transfer {
    int rank = 0;  // the other one
    Kind kind = Kind::nothing;
    Head head{};
    std::string body{};
    std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};  // of the head, of the body
    Time deadline{};
    bool is_possible = true;  // MPI has begun it, and its length is one of a message
  };

  void begin(int to, Kind kind, std::string body);
  void expect_head();
  bool has_room_for_arrivals() const;
  void take_heads();
  void expect_body(const Head& head, int from);
  void move_sends();
  std::optional<Frame> arrived();
  void lose(const Transfer& transfer);
  static Progress progress_of(Transfer& transfer);

  int rank_ = 0, size_ = 1;
  Head head_{};  // of the next message, from any rank
  MPI_Request next_ = MPI_REQUEST_NULL;
  std::list<Transfer> sending_{}, arriving_{};  // in their order
  // MPI may read or write their bytes as long as it runs. There are a few for each other rank at most,
  // because that one counts as lost from then on, and no body of it is expected.
  std::list<Transfer> given_up_{};
  std::map<int, std::string> lost_{};  // ranks that take no messages, and why
  std::deque<Frame> ends_{};           // of ranks, to be returned by receive()
  std::set<int> heard_{};              // ranks of which a message has come
  bool end_has_come_ = false, interrupt_has_come_ = false;
};

}  // namespace joust::hosts
