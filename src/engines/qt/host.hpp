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
  // Prepares all that the next client needs. Returns the failure if that is impossible; peers then wait in
  // the accept queue.
  virtual std::optional<Failure> prepare() noexcept = 0;
  // Starts a client for an accepted socket or, if the socket is not open, a client that dials. The client
  // reports its end by client_ended(), and the end of its dial by client_dialled().
  virtual void start(Fd socket) = 0;
  // No further client will start. The running clients detect the stop by themselves.
  virtual void begin_drain() {}
  // The drain limit has passed.
  virtual void end_drain() {}

  // Returns the number of descriptors that must be left for the next client. Clients that dial may open a
  // socket at any time.
  int descriptors_needed() const;
  const Hosting& hosting() const { return hosting_; }
  Stop& stop() { return stop_; }
  QObject* context() { return &context_; }  // for slots that run in the host's thread
  // Called by any thread. An error ends the run.
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
  std::span<Listener* const> listeners_;  // empty after the stop
  std::vector<std::unique_ptr<QSocketNotifier>> acceptors_;
  QTimer pause_;       // ends a pause of accepting
  QTimer dial_again_;  // starts dials for which no client has been started
  QTimer drain_end_;   // the limit of a stop
  bool draining_ = false;
  std::size_t clients_ = 0;  // clients that have been started and have not ended
  // Dials for which no client has been started. Clients dial by themselves, also again.
  Dials dials_;
  std::optional<Waker> waker_;  // woken by publications, if connections may be dialled later
  std::unique_ptr<QSocketNotifier> published_;
  std::exception_ptr error_;
};

}  // namespace joust
