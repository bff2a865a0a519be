// SPDX-License-Identifier: MIT
//
// qt-threads: every client has a QThread with an event loop, and its socket lives there.
//
//     QTcpServer::newConnection --> moveToThread --> a QThread:  exec --> readyRead --> session --> write
//              ^                                                  ^                                   |
//              |                                                  +-----------------------------------+
//              +---- QThread::finished --> deleteLater
//
// Good at: long computations in a program on Qt, because they delay no other client. Bad at: many clients.
// Each has a thread, two descriptors beside its socket, and an event loop, so a message costs a switch to
// another thread, and as many system calls as in `qt`. Left out on purpose: a thread without an event loop,
// which blocks in waitForReadyRead(): it could detect neither a publication nor the stop. qt.cpp has the
// slots, and qt/clients.cpp passes the sockets on.
#include <QThread>
#include <cerrno>
#include <future>
#include <memory>
#include <system_error>
#include <utility>

#include "engines/qt/application.hpp"
#include "engines/qt/clients.hpp"

namespace joust {
namespace {

// A thread that waits for its client.
class ClientThread : public QThread {
 public:
  std::future<void> begun() { return begun_.get_future(); }  // ready when it has its descriptors
  void take(std::unique_ptr<QtClient> client) { client_.set_value(std::move(client)); }  // null: ends it

 private:
  void run() override {
    begun_.set_value();
    if (const std::unique_ptr<QtClient> client = client_.get_future().get()) client->run();
  }

  std::promise<void> begun_;
  std::promise<std::unique_ptr<QtClient>> client_;
};

class ThreadPerClient : public QtClients {
 public:
  using QtClients::QtClients;
  ~ThreadPerClient() override;

 private:
  void prepare_thread() override;
  void start(std::unique_ptr<QtClient>& client) override;

  QObject threads_;                // the parent of all threads
  ClientThread* spare_ = nullptr;  // the one that waits
};

ThreadPerClient::~ThreadPerClient() {
  if (spare_ != nullptr) spare_->take(nullptr);
  end_clients();
  for (QObject* thread : threads_.children()) static_cast<QThread*>(thread)->wait();
}

// Starts the next client's thread. A peer is accepted only when a thread waits for it.
void ThreadPerClient::prepare_thread() {
  if (spare_ != nullptr) return;
  auto thread = std::make_unique<ClientThread>();
  const std::future<void> begun = thread->begun();
  thread->setStackSize(kStack);
  QObject::connect(thread.get(), &QThread::finished, thread.get(), &QObject::deleteLater);
  thread->start();
  if (!thread->isRunning()) throw std::system_error(EAGAIN, std::generic_category(), "QThread::start()");
  begun.wait();
  spare_ = thread.release();
  spare_->setParent(&threads_);
}

// Waits until the client's event loop has its descriptors, before another client is accepted: in a burst of
// peers none would be left for it.
void ThreadPerClient::start(std::unique_ptr<QtClient>& client) {
  const std::future<void> begun = client->begun();
  std::exchange(spare_, nullptr)->take(std::move(client));
  begun.wait();
}

}  // namespace

// modules.cpp has the descriptor.
extern "C" void joust_run_qt_threads(const Hosting& hosting, Stop& stop) {
  const QtApplication application(hosting.tally);
  run_in_qthread([&] { run_loops<ThreadPerClient>(hosting, stop); });
}

}  // namespace joust
