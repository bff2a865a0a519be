// SPDX-License-Identifier: MIT
#pragma once

#include <QRunnable>
#include <QTcpSocket>
#include <future>
#include <memory>
#include <optional>

#include "engines/qt/loop.hpp"

namespace joust {

class QtClient;

// A loop that accepts or dials, and passes each connection to a client in a thread of its own. Its peers are
// the places of these clients.
class QtClients : public QtLoop {
 public:
  using QtLoop::QtLoop;

 protected:
  static constexpr unsigned kStack = 256 << 10;  // bytes, of a client's thread

  // The engine's part: throws std::system_error unless a thread for a client is there or can be started.
  virtual void prepare_thread() = 0;
  // The engine's part: takes the client, calls its run() in a thread, and deletes it in any case. It may
  // throw before it has taken the client.
  virtual void start(std::unique_ptr<QtClient>& client) = 0;
  std::optional<Failure> shortage() override;
  // Ends the clients that still run. Call it before waiting for their threads.
  void end_clients();

 private:
  friend class QtClient;
  void connect(QtPeer& peer) override;
  void tell(QtPeer& peer, News news) override;
  void take_news() override;
  void leaves(QtPeer& place) noexcept;  // its client has ended

  SharedQueue<QtPeer> left_;  // places whose clients have ended
};

// One connection of an engine that has a thread for each, with an event loop of its own in that thread.
class QtClient : public QRunnable {
 public:
  QtClient(QtClients& clients, QtPeer& place, std::unique_ptr<QTcpSocket> socket);
  ~QtClient() override;  // frees the place

  void run() override;
  // Becomes ready when the event loop has its descriptors, or the client has ended.
  std::future<void> begun() { return begun_.get_future(); }
  // Detaches the client from its place: it will not run.
  void dismiss() { place_ = nullptr; }

 private:
  void serve();

  QtClients& clients_;
  QtPeer* place_;
  const Hosting hosting_;
  std::unique_ptr<QTcpSocket> socket_;
  bool was_run_ = false;
  std::promise<void> begun_;
};

}  // namespace joust
