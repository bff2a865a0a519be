// SPDX-License-Identifier: MIT
#pragma once

#include <QEventLoop>
#include <QSocketNotifier>
#include <QTcpServer>
#include <QAbstractSocket>
#include <QTimer>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engines/loop/loop_core.hpp"

namespace joust {

// A peer of a loop on Qt.
struct QtPeer : LoopPeer {
  using LoopPeer::LoopPeer;
  ~QtPeer() {
    if (!stream) return;
    stream.reset();  // closes the descriptor
    (void)socket.release();
  }

  std::unique_ptr<QAbstractSocket> stream;      // none while connecting
  std::unique_ptr<QSocketNotifier> connecting;  // the connect has a result
  std::unique_ptr<QSocketNotifier> exception;   // the socket has an error
  bool readable = false;                        // bytes or an end have not been read yet
  bool has_hung_up = false;                     // and `exception` has reported that
  bool writing = false;                         // in QIODevice::write()
};

// Accepts from a Listener, from a copy of its descriptor, because close() of a QTcpServer closes its own. Each
// descriptor goes to `take`. QTcpServer accepts until the queue is empty, or `maxPendingConnections()` are
// pending; as nothing is ever pending here, only 0 ends that.
class QtServer : public QTcpServer {
 public:
  QtServer(const Listener& listener, std::function<void(Fd)> take);
  void end_batch() { setMaxPendingConnections(0); }
  void begin_batch();  // accepts again

 private:
  void incomingConnection(qintptr descriptor) override;

  const Listener& listener_;
  const std::function<void(Fd)> take_;
};

// A loop of LoopCore on Qt's own event loop: signals in place of a wait. What LoopCore does at the end of a turn
// happens when the event loop is about to sleep. Slots are lambdas, and the loop's objects their context, so
// no class needs moc.
class QtLoop : public LoopCore<QtPeer> {
 public:
  QtLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);
  ~QtLoop() override;
  void run();

 private:
  template <typename Step>
  void on_event(Step&& step) noexcept;
  void finish_turn();
  void set_timer();
  void post_resume();

  void listen();
  void take(Fd socket);
  void watch_listeners();
  void on_accept_error(QAbstractSocket::SocketError error);
  void request_stop();
  void stop_by_and_by();

  void connect(QtPeer& peer) override;
  void serve(QtPeer& peer) override;
  void attach(QtPeer& peer);
  void receive(QtPeer& peer);
  bool at_end(QtPeer& peer);
  void flush(QtPeer& peer);
  void write(QtPeer& peer);
  void watch_for_reset(QtPeer& peer);
  void look_for_reset(QtPeer& peer);
  void on_written(QtPeer& peer, std::size_t n);
  void on_error(QtPeer& peer);

  QObject context_;  // of all connections to this loop: they end with it
  QEventLoop events_;
  QTimer timer_;
  QSocketNotifier stop_notifier_;
  QSocketNotifier inbox_notifier_;
  std::vector<std::unique_ptr<QtServer>> servers_;
  std::size_t quota_ = 0;  // newcomers that this turn may accept
  bool accepting_ = true;
  bool in_turn_ = false;
  bool stopping_ = false;
  bool resume_posted_ = false;
  bool splice_missed_ = false;
  std::optional<Time> armed_;  // for when the timer is set
  Queue<QtPeer> unfinished_;   // peers that have used up this turn's quota
  std::exception_ptr error_;   // that ends the run
  std::vector<std::byte> buffer_;
};

}  // namespace joust
