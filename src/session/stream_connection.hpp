// SPDX-License-Identifier: MIT
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "joust/engine.hpp"
#include "joust/session.hpp"
#include "session/tally.hpp"

namespace joust {

// A session at the end of a byte stream: what every stream engine would otherwise repeat. It makes no system
// call; the engine reads, writes and waits in its own way, reports here what happened, and asks here what to
// do next:
//
//   wants_input()      may I read?                     then received() or peer_finished()
//   output()           what shall I send?              then sent()
//   wants_shutdown()   shall I end our direction?      then shut_down(), after shutdown(fd, SHUT_WR)
//   ended()            is it over? then close
//   deadline()         when to call on_time()
//
// The end of a connection is always the same: the session is finished, its output is sent, our direction is
// shut down, and what the peer still sends is read until it ends too (or limits.linger has passed), because
// closing with bytes unread makes TCP reset the connection and take back replies already sent. One thread at
// a time.
class StreamConnection {
 public:
  StreamConnection(std::unique_ptr<Session> session, const Limits& limits, Tally& tally, Time now);
  ~StreamConnection();
  StreamConnection(const StreamConnection&) = delete;
  StreamConnection& operator=(const StreamConnection&) = delete;

  // Inputs
  void received(Bytes chunk, Time now);
  void peer_finished(Time now);
  void sent(std::size_t n, Time now);  // the first n bytes of output() are gone and no longer referred to
  void shut_down(Time now);
  void failed(const Failure& failure, Time now);
  void on_time(Time now);  // no harm if nothing was due
  void drain(Time now);
  void refresh(Time now);  // the service's publication count has moved

  // Questions
  bool wants_input() const;
  std::size_t output(std::span<iovec> into) const;  // how many were filled
  bool has_output() const;
  bool wants_shutdown() const;
  bool ended() const;
  std::optional<Time> deadline() const;

 private:
  void offer_held(Time now);
  std::size_t offer(Bytes chunk, Time now);

  std::unique_ptr<Session> session_;
  const Limits& limits_;
  Tally& tally_;
  std::vector<std::byte> held_;  // read from the peer, but the session wants nothing now; at most one read
  Time last_progress_;
  Time shut_at_{};
  std::uint64_t received_ = 0;
  std::uint64_t sent_ = 0;
  bool peer_finished_ = false;
  bool told_finished_ = false;  // the session knows
  bool shut_ = false;
  bool ended_ = false;
};

}  // namespace joust
