// SPDX-License-Identifier: MIT
#pragma once

#include <QEventLoop>
#include <QObject>
#include <QSocketNotifier>
#include <QTimer>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/fd.hpp"
#include "engines/engine.hpp"
#include "engines/loop/dials.hpp"
#include "net/listener.hpp"
#include "net/stop.hpp"
#include "net/waker.hpp"

namespace joust {

// The event loop of an engine whose clients have event loops of their own: it accepts or dials, and manages
// their threads.
class QtHost {
 public:
  QtHost(const Hosting& hosting, Stop& stop);
  virtual ~QtHost();
  QtHost(const QtHost&) = delete;
  QtHost& operator=(const QtHost&) = delete;
  void run();

 protected:
  // The engine's part.
  // Has all that the next client needs. Returns the failure if it cannot; peers then wait in the accept
  // queue.
  virtual std::optional<Failure> prepare() noexcept = 0;
  // Starts a client: of an accepted socket, or one that dials if the socket is not open. It reports its end
  // by client_ended(), and one that dials the end of that by client_dialled().
  virtual void start(Fd socket) = 0;
  // No client follows; those that run are told of the stop by themselves.
  virtual void begin_drain() {}
  // The drain limit has passed.
  virtual void end_drain() {}

  // That must be left for the next client. Those that dial may open a socket at any time.
  int descriptors_needed() const;
  const Hosting& hosting() const { return hosting_; }
  Stop& stop() { return stop_; }
  QObject* context() { return &context_; }  // of slots that run in the host's thread
  // Any thread. An error ends the run.
  void client_dialled();
  void client_ended(std::exception_ptr error);
  // The client could not begin, and has reported nothing else.
  void client_failed(const Failure& failure);

 private:
  void listen();
  void watch_publications();
  void accept_peer(const Listener& listener);
  void pause_accepting();
  void watch_listeners(bool watched);
  void start_dials();
  std::optional<Failure> take_on(Fd socket);
  void begin(Fd socket);
  void guarded(const std::function<void()>& step) noexcept;
  void later(std::function<void()> step);
  void on_stop();
  bool over() const { return clients_ == 0 && (draining_ || (!hosting_.serves() && dials_.done())); }

  const Hosting& hosting_;
  Stop& stop_;
  QObject context_;
  QEventLoop events_;
  QSocketNotifier stop_notifier_;
  std::span<Listener* const> listeners_;  // until the stop
  std::vector<std::unique_ptr<QSocketNotifier>> acceptors_;
  QTimer pause_;       // of accepting
  QTimer dial_again_;  // connections for which there was no client
  QTimer drain_end_;   // the limit of a stop
  bool draining_ = false;
  std::size_t clients_ = 0;  // that have been started and have not ended
  // Connections without a client. Clients dial by themselves, also again.
  Dials dials_;
  std::optional<Waker> waker_;  // by publications, if some of them may be dialled later
  std::unique_ptr<QSocketNotifier> published_;
  std::exception_ptr error_;
};

}  // namespace joust
