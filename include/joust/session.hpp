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

// The destination of the peer's next bytes.
enum class Want : std::uint8_t {
  nothing,  // back-pressure: the engine stops reading from this peer
  bytes,    // to on_bytes
  file,     // into the range files()->store(); only for sessions with files()
};

// The step at which a connection failed. The results use these names. `local` is a fault on this side that
// ends the connection: no memory, no thread, a descriptor that the kernel refuses to watch, an exception of
// the session.
enum class Stage : std::uint8_t { resolve, connect, send, receive, verify, timeout, local };
inline constexpr std::size_t kStages = 7;
std::string_view stage_name(Stage stage);

struct Failure {
  Stage stage{};
  int error = 0;       // errno, or 0 where no system call failed
  std::string detail;  // the object of the failed operation, as text: "127.0.0.1:9000"; may be empty
};

// All answers of a session to the questions of an engine, at one moment.
struct Answers {
  Want want = Want::bytes;
  bool has_output = false;  // output() shows something
  bool finished = false;
  bool gives_up = false;
  std::uint64_t memory = 0;     // bytes
  Time deadline = Time::max();  // of the next on_deadline(); Time::max(): none
};

// One peer's protocol state, without I/O: a session makes no system call, reads no clock and never blocks.
// Time is an argument. At most one thread at a time calls a session; different calls may come from different
// threads.
//
// There are three kinds of methods, called in this order:
//
//   inputs            on_open first and once; then on_bytes, on_published, on_deadline, on_drain and the
//                     inputs of files() in any order; on_peer_finished at most once, after which on_bytes is
//                     not called; on_failure at most once, after which only the destructor is called.
//   outputs           queries without side effects. Their answers change only after an input, after an
//                     acknowledgement, or when the service's publication count has changed. An engine asks
//                     again after these, and only then.
//   acknowledgements  consumed and released, in that order, for bytes shown by output().
class Session {
 public:
  virtual ~Session() = default;

  // The connection is open. Called before any other input.
  virtual void on_open(Time /*now*/) {}

  // Bytes from the peer, at least one, valid during the call. A stream may be cut anywhere; a message
  // transport delivers whole messages. Called only while want() is bytes. Returns the number of bytes taken:
  // all, unless taking some changed want(); then the rest is offered again according to the new want(). A
  // message is taken whole.
  virtual std::size_t on_bytes(Bytes chunk, Time now) = 0;

  // The service's publication count has changed, perhaps several times, since the last call or since on_open.
  // Needed only by sessions whose output() must be prepared, such as one that wraps another session. Other
  // sessions show published data in output() directly.
  virtual void on_published(Time /*now*/) {}

  // The peer has ended its stream. It may still read our output.
  virtual void on_peer_finished(Time /*now*/) {}

  // deadline() has passed. May be called late, never early.
  virtual void on_deadline(Time /*now*/) {}

  // The program is stopping: the session completes open requests, begins nothing new, and then is finished().
  virtual void on_drain(Time now) = 0;

  // The connection is lost. Nothing can be sent any more.
  virtual void on_failure(const Failure& /*failure*/, Time /*now*/) {}

  // Returns the data to send next: fills `into` with segments in order and returns their number; 0: nothing
  // to send. Each segment keeps its address until released, whatever else is called.
  virtual std::size_t output(std::span<Segment> into) const = 0;

  virtual Want want() const { return Want::bytes; }

  // Returns the file interface, borrowed from the session; the answer never changes. A session whose output()
  // may show file ranges, or whose want() may be file, must return one.
  virtual SessionFiles* files() { return nullptr; }

  // Returns when to call on_deadline, if ever.
  virtual std::optional<Time> deadline() const { return std::nullopt; }

  // True once output() will never grow again. After that output is sent, the engine shuts down its direction,
  // waits for the peer's end of stream, and closes. Never becomes false again.
  virtual bool finished() const = 0;

  // Returns the peer's protocol error that ended the session, in words; empty if it made none. The engine
  // counts it as a failure of the stage verify.
  virtual std::string_view complaint() const { return {}; }

  // Returns the bytes of memory that the session keeps for its peer: incomplete messages, and output that is
  // not sent. An estimate, asked after inputs. A server that runs short of memory ends the sessions that keep
  // most.
  virtual std::uint64_t memory() const { return 0; }

  // True when the connection must be closed at once, without sending the remaining output, because the peer
  // reads too slowly. Never becomes false again.
  virtual bool gives_up() const { return false; }

  // Returns all answers together. Stream engines ask so, once after each input and acknowledgement. A session
  // need not know this question. A final class with many messages a second may return answers_of(*this), or
  // answer in one look at its state.
  virtual Answers answers() const { return answers_of(*this); }

  // The operating system has taken the first n bytes of output(), which output() must not show again. The
  // bytes must keep their address until released. If a session withdraws output, as when it fails, a send of
  // it may have been under way.
  virtual void consumed(std::size_t n) = 0;

  // The oldest n consumed bytes may be freed now.
  virtual void released(std::size_t n) = 0;

 protected:
  // Asks each question. Of a final class the compiler knows the answers, so no call is virtual.
  template <typename S>
  static Answers answers_of(const S& session) {
    Segment first;
    return {.want = session.want(),
            .has_output = session.output({&first, 1}) > 0,
            .finished = session.finished(),
            .gives_up = session.gives_up(),
            .memory = session.memory(),
            .deadline = session.deadline().value_or(Time::max())};
  }
};

}  // namespace joust
