// SPDX-License-Identifier: MIT
#pragma once

#include <QEventLoop>
#include <QSocketNotifier>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTimer>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engines/loop/loop_core.hpp"

namespace joust {

// A peer of a loop on Qt.
struct QtPeer : LoopPeer {
  explicit QtPeer(Fd dialling) : LoopPeer(std::move(dialling)) {}
  explicit QtPeer(std::unique_ptr<QTcpSocket> accepted) : LoopPeer(Fd{}), stream(std::move(accepted)) {}

  std::unique_ptr<QTcpSocket> stream;           // none while connecting
  std::unique_ptr<QSocketNotifier> connecting;  // the connect has a result
  qint64 unsent = 0;                            // bytes of the output that are in Qt's buffer
  std::exception_ptr error;                     // the error of its client that ends the run (clients.hpp)
};

void open_session(const Hosting& hosting, QtPeer& peer, Time now);

// Accepts for a listener, whose socket it has a copy of. It keeps one pending connection at most, and so
// stops accepting while none is taken.
struct QtServer : QTcpServer {
  explicit QtServer(const Listener& copied);

  const Listener& listener;
  bool is_paused = false;  // after an error of accept; resumeAccepting() ends that
};

// A LoopCore on Qt's event loop: signals take the place of a wait, and slots serve the peers (qt.cpp). The
// steps that LoopCore takes at the end of an iteration run when the event loop is about to sleep. Slots are
// lambdas, and `context_` is their receiver, so no class needs moc.
class QtLoop : public LoopCore<QtPeer> {
 public:
  QtLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);
  ~QtLoop() override;
  void run();
  // Serves a connection that another thread's loop has accepted or dialled. The socket must belong to no
  // thread. Call it before run().
  void take_over(std::unique_ptr<QTcpSocket> socket);

 protected:
  void connect(QtPeer& peer) override;
  void tell(QtPeer& peer, News news) override;
  static void adopt(QtPeer& peer);
  virtual void take_news() { admit_dealt(); }  // another thread has woken this loop
  template <typename Step>
  void on_event(Step&& step) noexcept;

 private:
  // The slots of servers and sockets.
  void listen();
  void accept_from(QtServer& server);
  void take_pending(QtServer& server);
  void attach(QtPeer& peer);
  void serve(QtPeer& peer) override;
  void receive(QtPeer& peer);
  void send(QtPeer& peer);
  bool write(QtPeer& peer);
  void finish_closed(QtPeer& peer);
  void acknowledge(QtPeer& peer);
  void note_plain_files();
  bool let_go(QtPeer& peer) override;

  // The iteration.
  void finish_iteration();
  void set_timer();
  void begin_stop();

  QObject context_;  // the receiver of all signals; connections end with it
  QEventLoop events_;
  QTimer timer_;
  QSocketNotifier stop_notifier_;
  QSocketNotifier inbox_notifier_;
  std::vector<std::unique_ptr<QtServer>> servers_;
  std::optional<std::size_t> quota_;  // peers that may still be accepted in this iteration
  bool in_iteration_ = false;
  bool files_noted_ = false;
  std::optional<Time> armed_;  // the time for which the timer is set
  std::exception_ptr error_;   // the error that ends the run
  const qint64 most_read_;     // bytes, in Qt's buffer and in this one
  // Not initialized, because a client with a loop of its own uses little of it.
  const std::unique_ptr<char[]> buffer_;
};

// Runs a step of a slot. No exception may pass through Qt: one that gets here ends the run.
template <typename Step>
void QtLoop::on_event(Step&& step) noexcept {
  try {
    if (!std::exchange(in_iteration_, true)) read_clock();
    step();
  } catch (...) {
    if (!error_) error_ = std::current_exception();
    events_.quit();
  }
}

}  // namespace joust
