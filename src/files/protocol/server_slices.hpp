// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "files/protocol/server_answers.hpp"
#include "files/protocol/server_state.hpp"

namespace joust::file {

// The slices of a session's long task, and its turn to digest. Digests of long files wait for one of a few
// turns, because many digests would delay all peers of their loop. The last turn is for uploads, so that
// queries cannot keep uploads from their end.
class Slices {
 public:
  // Digests of fewer bytes need no turn: reading them takes less time than waiting.
  static constexpr std::uint64_t kWithoutTurn = 1 << 20;

  Slices(ServerState& server, Answers& answers) : server_(server), answers_(answers) {}
  ~Slices() { end(); }
  Slices(const Slices&) = delete;
  Slices& operator=(const Slices&) = delete;

  void begin(Time now);
  // True if the slice may be made now. Digests of endless files must not delay others for ever: a session
  // that has had a turn for a while tries for the next one later than the waiting sessions.
  bool take_turn(bool of_upload, Time now);
  void end();                // gives the turn back
  void put_off(Time until);  // gives the turn back; the next slice is due then
  Time due() const { return due_; }

 private:
  bool has_turn(bool of_upload);

  ServerState& server_;
  Answers& answers_;
  bool has_turn_ = false;
  Time turn_ends_{};                  // after that, others that want the turn get it
  std::uint64_t refused_before_ = 0;  // refused turns of others when this turn began
  Time due_{};
};

}  // namespace joust::file
