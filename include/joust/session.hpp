// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "joust/bytes.hpp"
#include "joust/file.hpp"
#include "joust/time.hpp"

namespace joust {

// One piece of output: bytes, or a range of a file (then `bytes` is empty). Over a message transport one
// segment is one message. Borrowed from the session until released.
struct Segment {
  Bytes bytes{};
  FileRange file{};

  bool in_file() const { return file.file != nullptr; }
  std::uint64_t size() const { return in_file() ? file.size : bytes.size(); }
};

// What a session takes next.
enum class Want : std::uint8_t {
  nothing,  // back-pressure: the engine stops reading from this peer
  bytes,    // the peer's next bytes, by on_bytes
  file,     // the peer's next bytes in the range files()->store(); only for sessions with files()
};

// Where a connection failed. The names are those of the results: resolve, connect, send, receive, verify,
// timeout, local. `local` is a fault of this side that costs the peer its connection: no memory, no thread,
// a descriptor the kernel refuses to watch, an exception of the session.
enum class Stage : std::uint8_t { resolve, connect, send, receive, verify, timeout, local };
inline constexpr std::size_t kStages = 7;
std::string_view stage_name(Stage stage);

struct Failure {
  Stage stage{};
  int error = 0;       // errno, or 0 where no system call failed
  std::string detail;  // what was tried, for people: "127.0.0.1:9000"; may be empty
};

// One peer's protocol state, without I/O: a session never calls the system, never reads a clock and never
// blocks. Time is an argument. One thread at a time touches a session; which one may change between calls.
//
// Three kinds of methods, and the order in which an engine calls them:
//
//   inputs            on_open first and once; then on_bytes, on_published, on_deadline, on_drain and the
//                     inputs of files() in any order; on_peer_finished at most once, after which on_bytes is
//                     not called; on_failure at most once, after which only the destructor is called.
//   outputs           questions without side effects. Their answers change only by an input, by an
//                     acknowledgement, or when the service's publication count has moved. So an engine asks
//                     again after those, and only then.
//   acknowledgements  consumed and released, in that order, for bytes that output() has shown.
class Session {
 public:
  virtual ~Session() = default;

  // The connection is open. Called before any other input.
  virtual void on_open(Time /*now*/) {}

  // Bytes from the peer, at least one, valid during the call. A stream may be cut anywhere; a message
  // transport delivers whole messages. Called only while want() is bytes. Returns how many bytes were taken:
  // all of them, unless taking some changed want(); then the rest is offered again according to the new
  // want(). A message is taken whole.
  virtual std::size_t on_bytes(Bytes chunk, Time now) = 0;

  // The service's publication count has moved, perhaps by several publications, since the last call or since
  // on_open. Needed only by sessions that prepare output() from what was published, such as one that wraps
  // another session; the others show it in output() by themselves.
  virtual void on_published(Time /*now*/) {}

  // The peer will send no more. It may still read what output() holds.
  virtual void on_peer_finished(Time /*now*/) {}

  // deadline() has passed. May come late, never early.
  virtual void on_deadline(Time /*now*/) {}

  // The program is about to stop: the session finishes what has been begun, begins nothing more, and then is
  // finished().
  virtual void on_drain(Time now) = 0;

  // The connection is lost. Nothing can be sent any more.
  virtual void on_failure(const Failure& /*failure*/, Time /*now*/) {}

  // What to send next: fills `into` from the front with segments in order and returns how many it filled (0:
  // nothing to send). Each segment keeps its address until released, whatever else is called.
  virtual std::size_t output(std::span<Segment> into) const = 0;

  virtual Want want() const { return Want::bytes; }

  // The interface for files. A session whose output() shows file ranges or whose want() may be file returns
  // one; it belongs to the session, and the answer never changes.
  virtual SessionFiles* files() { return nullptr; }

  // When on_deadline is to be called, if ever.
  virtual std::optional<Time> deadline() const { return std::nullopt; }

  // True once output() will never show anything more than it does now. As soon as that is sent, the engine
  // ends its side of the connection, waits for the peer to end too, and closes. Never becomes false again.
  virtual bool finished() const = 0;

  // Why the session ended early: what the peer did wrong, for people. Empty where it did nothing wrong. The
  // engine counts it as a failure of the stage verify.
  virtual std::string_view complaint() const { return {}; }

  // True when the connection has to be closed at once, with output unsent, because the peer reads too slowly.
  // Never becomes false again.
  virtual bool gives_up() const { return false; }

  // The operating system has taken the first n bytes of output(), which output() must not show again. The
  // bytes must stay where they are until they are released.
  virtual void consumed(std::size_t n) = 0;

  // The oldest n consumed bytes may be freed now.
  virtual void released(std::size_t n) = 0;
};

}  // namespace joust
