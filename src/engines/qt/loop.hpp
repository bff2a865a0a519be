// SPDX-License-Identifier: MIT
#pragma once

#include <QEventLoop>
#include <QSocketNotifier>
#include <QAbstractSocket>
#include <QTimer>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engines/loop/loop_core.hpp"

namespace joust {

// Qt's socket, for a loop that reads only where a byte is there: see QtLoop::has_input().
class QtStream : public QAbstractSocket {
 public:
  QtStream() : QAbstractSocket(TcpSocket, nullptr) {}
  // After readyRead() Qt waits for a read before it signals again. Call this where nothing was there to read:
  // the bytes had been read before the signal came. It cannot fail, and reads nothing.
  void await_more() { readData(nullptr, 0); }
};

// A peer of a loop on Qt.
struct QtPeer : LoopPeer {
  using LoopPeer::LoopPeer;
  ~QtPeer() {
    if (!stream) return;
    stream.reset();  // closes the descriptor
    (void)socket.release();
  }

  std::unique_ptr<QtStream> stream;             // none while connecting
  std::unique_ptr<QSocketNotifier> connecting;  // the connect has a result
  std::unique_ptr<QSocketNotifier> exception;   // the socket has an error
  bool is_tcp = false;                          // not a unix socket
  bool readable = false;                        // bytes or an end have not been read yet
  bool has_hung_up = false;                     // the peer has hung up, and `exception` has reported it
  bool writing = false;                         // QIODevice::write() is being called
};

// A LoopCore on Qt's own event loop: signals take the place of a wait. The steps that LoopCore takes at the
// end of a turn run when the event loop is about to sleep. Slots are lambdas, and the loop's objects their
// context, so no class needs moc.
class QtLoop : public LoopCore<QtPeer> {
 public:
  QtLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);
  ~QtLoop() override;
  void run();

  // Prepares a loop with one peer. Call it before run(): the loop then waits until give() is called.
  // `dialled` is called when the peer's dial, if it has one, has ended.
  void await_peer(std::function<void()> dialled);
  // Passes the peer's socket, or none for a peer that is dialled. Called by any thread.
  void give(Fd socket);

 private:
  template <typename Step>
  void on_event(Step&& step) noexcept;
  void finish_turn();
  bool is_over() const { return over() && !awaiting_; }
  void report_dial();
  void set_timer();
  void post_resume();

  void listen();
  void watch_listeners();
  void request_stop();
  void stop_by_and_by();

  void connect(QtPeer& peer) override;
  void serve(QtPeer& peer) override;
  void attach(QtPeer& peer);
  void receive(QtPeer& peer);
  bool has_input(QtPeer& peer);
  void note_plain_files();
  void flush(QtPeer& peer);
  void write(QtPeer& peer);
  void watch_for_reset(QtPeer& peer);
  void look_for_reset(QtPeer& peer);
  void on_written(QtPeer& peer, std::size_t n);
  void on_error(QtPeer& peer);

  QObject context_;  // the context of all connections to this loop, which end with it
  QEventLoop events_;
  QTimer timer_;
  QSocketNotifier stop_notifier_;
  QSocketNotifier inbox_notifier_;
  std::vector<std::unique_ptr<QSocketNotifier>> acceptors_;
  bool in_turn_ = false;
  bool awaiting_ = false;
  std::function<void()> dialled_;
  bool stopping_ = false;
  bool resume_posted_ = false;
  bool files_noted_ = false;
  std::optional<Time> armed_;  // the time for which the timer is set
  Queue<QtPeer> unfinished_;   // peers that have used up this turn's quota
  std::exception_ptr error_;   // the error that ends the run
  // Not initialized, because a client with a loop of its own uses little of it.
  const std::unique_ptr<std::byte[]> buffer_;
};

// Runs a step of a slot. No exception may pass through Qt: one that gets here ends the run.
template <typename Step>
void QtLoop::on_event(Step&& step) noexcept {
  try {
    if (!std::exchange(in_turn_, true)) read_clock();
    step();
  } catch (...) {
    if (!error_) error_ = std::current_exception();
    events_.quit();
  }
}

}  // namespace joust
