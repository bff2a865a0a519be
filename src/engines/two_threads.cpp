// SPDX-License-Identifier: MIT
//
// two-threads: every connection has a reader, which blocks in recv, and a writer, which blocks in send.
//
//     reader   recv --> session --> is there output? --> wake the writer
//                ^                                             |
//                +---------------------------------------------+
//     writer   sleep --> session --> send --> may the reader go on? --> wake the reader
//                ^                                                             |
//                +-------------------------------------------------------------+
//
// Good at: full duplex. While one thread copies bytes into the kernel, the other copies bytes out of it, and
// a full socket delays no reading, without a call that waits for both. Bad at: small requests one at a time.
// Each costs a switch from the reader to the writer, and each connection takes two stacks.
//
// One thread at a time uses the session, under the connection's lock. Neither holds the lock while it blocks:
// output keeps its address until it is reported as sent, whatever the reader does meanwhile. Each thread
// sleeps on a flag of its own. The writer sleeps while no output exists, until the next deadline, because
// deadlines are its work; the reader sleeps while the session wants nothing. recv has no timeout; a signal
// ends it for a stop (blocking/thread_host.hpp), and shutdown(SHUT_RDWR) at the end. send has a timeout,
// so that deadlines are met while the peer does not read.
//
// A publication wakes the writers of all connections, as this model wants it. `threads` shows the faster way:
// there the host sends for all. Left out on purpose: --wait spin. Two spinning threads for one connection
// would take each other's core.
#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "base/system/events.hpp"
#include "base/system/sockets.hpp"
#include "connection/stream_connection.hpp"
#include "engines/blocking/blocking_read.hpp"
#include "engines/blocking/thread_host.hpp"
#include "engines/files/file_io.hpp"
#include "engines/loop/polled.hpp"
#include "engines/loop/ready_io.hpp"
#include "engines/loop/waiting.hpp"
#include "engines/poll.hpp"
#include "joust/time.hpp"
#include "net/socket_options.hpp"

namespace joust {
namespace {

// Output that is sent without the connection's lock. The lock is held while it is prepared, and while it is
// reported. In between, the session may have got more output, or have withdrawn this output.
class Sending {
 public:
  bool prepare(StreamConnection& connection, Time now);  // returns false if no output exists
  void report(StreamConnection& connection, Time now);   // does nothing if nothing has been sent since

  // Used without the lock: a file's range if it comes first and sendfile can send it, otherwise bytes.
  const std::optional<FileRange>& source() const { return source_; }
  std::span<iovec> pieces() { return std::span(pieces_).first(count_); }
  void returned(ssize_t result, int error) {
    result_ = result;
    error_ = error;
  }

 private:
  static constexpr std::size_t kMostPieces = 16;

  std::optional<FileRange> source_;
  std::array<iovec, kMostPieces> pieces_;
  std::size_t count_ = 0;
  ssize_t result_ = -1;
  int error_ = EAGAIN;
  bool copies_files_ = false;  // sendfile cannot send the files
};

bool Sending::prepare(StreamConnection& connection, Time now) {
  source_ = copies_files_ ? std::nullopt : connection.source();
  count_ = source_ ? 0 : connection.output(pieces_, now);
  return source_ || count_ > 0;
}

void Sending::report(StreamConnection& connection, Time now) {
  const ssize_t result = std::exchange(result_, -1);
  const int error = std::exchange(error_, EAGAIN);
  if (source_) {
    const FileRange source = *std::exchange(source_, std::nullopt);
    copies_files_ = !report_sendfile(connection, source, result, error, now);
  } else if (result >= 0) {
    connection.sent(static_cast<std::size_t>(result), now);
  } else if (error != EAGAIN && error != EINTR) {
    connection.send_failed(error, now);
  }
}

// Lets one thread sleep until another one wakes it. It has a mutex of its own, so set() never waits for a
// working thread.
class WakeFlag {
 public:
  // Wakes the sleeper. If no thread sleeps, the next sleep ends at once. Any thread.
  void set() {
    {
      const std::lock_guard lock(mutex_);
      set_ = true;
    }
    changed_.notify_one();
  }

  // Sleeps until the flag is set, and clears it. Returns false if the flag was not set by `until`.
  bool wait_until(Time until) {
    std::unique_lock lock(mutex_);
    const bool woken = changed_.wait_until(lock, until, [this] { return set_; });
    set_ = false;
    return woken;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

// A connection, and the state that its two threads share. The first thread is the writer, because it opens
// the connection.
class Duplex : public ThreadedPeer {
 public:
  explicit Duplex(ThreadHost& host) : ThreadedPeer(host, 2) {}

  WakeFlag wake_reader;
  WakeFlag wake_writer;
  // Protected by the lock:
  bool reader_sleeps = false;
  bool writer_sleeps = false;  // until writer_back_by at the latest
  Time writer_back_by{};
  bool found = false;  // input has come since the writer's last turn

 private:
  void hold(std::size_t thread) override;
  bool pass_publications() noexcept override;
  void rouse() override;
  void release_others() noexcept override;
};

bool Duplex::pass_publications() noexcept {
  wake_writer.set();
  return true;
}

void Duplex::rouse() {
  wake_reader.set();
  interrupt(1);
}

// Called when one thread has seen that the connection is over. shutdown() ends the other thread's recv or
// send.
void Duplex::release_others() noexcept {
  if (socket.is_open()) ::shutdown(socket.get(), SHUT_RDWR);
  wake_reader.set();
  wake_writer.set();
}

constexpr Duration kLookForReset = std::chrono::milliseconds(100);  // while the reader sleeps
// The longest blocking send, and the longest one when a deadline is nearer: one tick of the kernel.
constexpr Duration kLongestSend = std::chrono::milliseconds(100);
constexpr Duration kShortestSend = std::chrono::microseconds(1);

// Lives on the stack of its thread.
class ReaderThread {
 public:
  explicit ReaderThread(Duplex& peer)
      : peer_(peer), file_input_(peer.host().pipes(), peer.host().hosting().limits) {}
  void run();

 private:
  enum class Next : std::uint8_t { receive, sleep, leave };
  Next take_turn(const ReadResult& result);
  bool writer_has_work() const;
  ReadResult receive();
  ReadResult receive_bytes(int flags);
  ReadResult receive_for_file();
  ReadResult sleep();

  Duplex& peer_;
  Time now_{};
  FileInput file_input_;
  std::size_t for_file_ = 0;  // bytes that may be read for a file
  bool looks_only_ = false;   // during a stop: receives without blocking
  LeaveTaking leave_;
  std::array<std::byte, kMostRead> buffer_;
};

void ReaderThread::run() {
  ReadResult result{{}, EAGAIN};
  for (Next next; (next = take_turn(result)) != Next::leave;)
    result = next == Next::receive ? receive() : sleep();
}

// Passes the input to the session, and wakes the writer if that has given it work.
ReaderThread::Next ReaderThread::take_turn(const ReadResult& result) {
  std::unique_lock lock(peer_.mutex);
  StreamConnection& connection = *peer_.connection;
  now_ = Clock::now();  // with the lock, because a session's time never goes back
  peer_.found = peer_.found || result.error == 0;
  report(result, connection, file_input_, now_);
  if (looks_only_ && !leave_.is_taken())
    leave_.go_on(result, connection, peer_.host().hosting().limits, now_);
  const bool over = connection.ended() || peer_.host().ending();
  // The nudge is acknowledged before what it refers to is examined.
  if (peer_.nudged.load(std::memory_order_relaxed)) peer_.nudged.exchange(false);
  looks_only_ = peer_.host().draining() && !leave_.is_taken();
  const bool wants_input = connection.wants_input();
  for_file_ = wants_input ? file_input_.wanted(connection) : 0;
  peer_.reader_sleeps = !wants_input;
  const bool wake = peer_.writer_sleeps && writer_has_work();
  if (wake) peer_.writer_sleeps = false;
  lock.unlock();
  if (wake) peer_.wake_writer.set();
  if (over) return Next::leave;
  return wants_input ? Next::receive : Next::sleep;
}

bool ReaderThread::writer_has_work() const {
  const StreamConnection& connection = *peer_.connection;
  if (connection.wants_shutdown()) return true;
  // The host is about to wake all writers for a publication.
  if (connection.has_output() && !peer_.host().will_speak()) return true;
  const auto due = connection.deadline();
  return due && *due < peer_.writer_back_by;
}

ReadResult ReaderThread::receive() {
  return for_file_ > 0 ? receive_for_file() : receive_bytes(looks_only_ ? MSG_DONTWAIT : 0);
}

ReadResult ReaderThread::receive_bytes(int flags) {
  const std::size_t most = std::min(buffer_.size(), peer_.host().hosting().limits.read_bytes);
  const ssize_t n = ::recv(peer_.socket.get(), buffer_.data(), most, flags);
  if (n < 0) return {{}, errno};
  return {std::span(buffer_).first(static_cast<std::size_t>(n)), 0};
}

// splice would hold its pipe while it waits, so ppoll waits first.
ReadResult ReaderThread::receive_for_file() {
  pollfd socket{.fd = peer_.socket.get(), .events = POLLIN, .revents = 0};
  const timespec at_once{};
  if (::ppoll(&socket, 1, looks_only_ ? &at_once : nullptr, nullptr) < 0)
    wait_failed(peer_.host().hosting(), "ppoll()");
  if (socket.revents == 0) return {{}, EAGAIN};
  const auto n = file_input_.fill(socket.fd, for_file_);
  if (!n) return receive_bytes(MSG_DONTWAIT);  // no pipe is available now
  return ReadResult::filled(*n);
}

// While nothing is wanted from the peer, only a reset matters.
ReadResult ReaderThread::sleep() {
  if (!looks_only_ && peer_.wake_reader.wait_until(now_ + kLookForReset)) return {{}, EAGAIN};
  const int error = connect_result(peer_.socket.get());
  return {{}, error != 0 ? error : EAGAIN};
}

// Lives on the stack of its thread.
class WriterThread {
 public:
  explicit WriterThread(Duplex& peer)
      : peer_(peer), wait_strategy_(Wait::block, peer.host().hosting().options.paced) {}
  void run();

 private:
  enum class Next : std::uint8_t { send, sleep, leave };

  Next take_turn();
  void on_time();
  void send();
  void set_send_timeout(Duration timeout);

  Duplex& peer_;
  Time now_{};
  WaitStrategy wait_strategy_;
  Lateness lateness_;
  Duration send_timeout_{};
  Sending sending_;
};

void WriterThread::run() {
  set_send_timeout(kLongestSend);
  for (Next next; (next = take_turn()) != Next::leave;)
    if (next == Next::send)
      send();
    else
      peer_.wake_writer.wait_until(peer_.writer_back_by);
}

// Reports what has been sent, does what is due, and wakes the reader if the session wants input again.
WriterThread::Next WriterThread::take_turn() {
  std::unique_lock lock(peer_.mutex);
  StreamConnection& connection = *peer_.connection;
  now_ = Clock::now();
  sending_.report(connection, now_);
  peer_.catch_up(now_);
  on_time();
  // While the host is about to wake all for a publication, nothing is sent, so that several publications
  // leave in one send.
  const bool has_output = !peer_.host().will_speak() && sending_.prepare(connection, now_);
  if (connection.wants_shutdown()) end_stream(peer_.socket.get(), connection, now_);
  const bool over = connection.ended() || peer_.host().ending();
  peer_.writer_sleeps = !has_output;
  auto due = connection.deadline();
  const bool near = due && *due < now_ + kLongestSend;
  if (due) due = lateness_.sleeps_until(*due);
  peer_.writer_back_by = now_ + wait_strategy_.next_wait(due, now_);
  const bool wake = peer_.reader_sleeps && connection.wants_input();
  if (wake) peer_.reader_sleeps = false;
  lock.unlock();
  if (wake) peer_.wake_reader.set();
  if (over) return Next::leave;
  if (has_output) set_send_timeout(near ? kShortestSend : kLongestSend);
  return has_output ? Next::send : Next::sleep;
}

void WriterThread::on_time() {
  const Time due = peer_.connection->deadline().value_or(Time::max());
  if (!lateness_.puts_off(due, std::exchange(peer_.found, false), now_)) peer_.connection->on_time(now_);
}

// One call, without the lock: the reader goes on.
void WriterThread::send() {
  const int socket = peer_.socket.get();
  const std::span<iovec> pieces = sending_.pieces();
  ssize_t n = 0;
  if (sending_.source()) {
    n = call_sendfile(socket, *sending_.source());
  } else if (pieces.size() == 1) {
    n = ::send(socket, pieces[0].iov_base, pieces[0].iov_len, MSG_NOSIGNAL);
  } else {
    const msghdr message = message_of(pieces);
    n = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  }
  sending_.returned(n, n < 0 ? errno : 0);
}

void WriterThread::set_send_timeout(Duration timeout) {
  if (std::exchange(send_timeout_, timeout) != timeout) set_timeout(peer_.socket.get(), SO_SNDTIMEO, timeout);
}

void Duplex::hold(std::size_t thread) {
  if (thread == 0)
    WriterThread(*this).run();
  else
    ReaderThread(*this).run();
}

}  // namespace

extern const Engine kTwoThreads{
    .name = "two-threads",
    .summary = "a reader and a writer thread for every connection, blocking in recv and in send",
    .own_threads = true,
    .threads = "two per connection",
    .wait_ignored = "its threads sleep in recv and send, and on a condition variable",
    .knobs = {},
    .run = run_loops<Polled<HostOf<Duplex>, Poll>>,
};

}  // namespace joust
