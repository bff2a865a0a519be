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
#include <future>
#include <memory>
#include <utility>

#include "engines/qt/application.hpp"
#include "engines/qt/clients.hpp"

namespace joust {
namespace {

class ThreadPerClient : public QtClients {
 public:
  using QtClients::QtClients;
  ~ThreadPerClient() override;

 private:
  void start(std::unique_ptr<QtClient> client) override;

  QObject threads_;  // the parent of all threads
};

ThreadPerClient::~ThreadPerClient() {
  end_clients();
  for (QObject* thread : threads_.children()) static_cast<QThread*>(thread)->wait();
}

// Waits until the client's event loop has its descriptors, before another client is accepted: in a burst of
// peers none would be left for it.
void ThreadPerClient::start(std::unique_ptr<QtClient> client) {
  const std::future<void> begun = client->begun();
  QThread* const thread = QThread::create([client = std::move(client)]() mutable {
    client->run();
    client.reset();
  });
  thread->setParent(&threads_);
  thread->setStackSize(kStack);
  QObject::connect(thread, &QThread::finished, thread, &QObject::deleteLater);
  thread->start();
  if (!thread->isRunning() && !thread->isFinished()) delete thread;
  begun.wait();
}

}  // namespace

// optional/with_qt.cpp has the descriptor.
extern "C" void joust_run_qt_threads(const Hosting& hosting, Stop& stop) {
  const QtApplication application(hosting.tally);
  run_in_qthread([&] { run_loops<ThreadPerClient>(hosting, stop); });
}

}  // namespace joust
