// SPDX-License-Identifier: MIT
//
// qt-threads: every client has a QThread with an event loop, and its socket lives there.
//
//     host   accept --> a waiting QThread:  exec --> readyRead --> read --> session --> write
//              ^                              ^                                           |
//              |                              +-------------------------------------------+
//              +---- QThread::finished  <---- the stop
//
// Good at: long computations in a program of Qt's, because they delay no other client. Bad at: many clients.
// Each has a thread, two descriptors beside its socket, and an event loop, so a message costs a switch to
// another thread, and as many system calls as in `qt`. The next client's thread is started before the accept,
// because Qt and GLib abort the program when a thread cannot make its descriptors. Left out on purpose: a
// thread without an event loop, which blocks in waitForReadyRead(): it could detect neither a publication nor
// the stop. qt/loop.cpp has the slots, qt/host.cpp accepts.
#include <QThread>
#include <future>
#include <set>

#include "base/sigpipe.hpp"
#include "engines/qt/application.hpp"
#include "engines/qt/client.hpp"
#include "engines/qt/host.hpp"

namespace joust {
namespace {

constexpr uint kStack = 256 << 10;

class ThreadPerClient : public QtHost {
 public:
  using QtHost::QtHost;
  ~ThreadPerClient() override;

 private:
  std::optional<Failure> prepare() noexcept override;
  void start(Fd socket) override {
    spare_->give(std::move(socket));
    spare_ = nullptr;
  }
  void begin_drain() override { dismiss_spare(); }
  void dismiss_spare();
  void start_thread();
  void join(QThread* thread);
  void hold(std::promise<QtClient*> ready);

  QtClient* spare_ = nullptr;   // its thread waits for a connection
  std::set<QThread*> threads_;  // threads that have been started and not joined
};

ThreadPerClient::~ThreadPerClient() {
  dismiss_spare();
  while (!threads_.empty()) join(*threads_.begin());
}

std::optional<Failure> ThreadPerClient::prepare() noexcept {
  try {
    if (spare_ == nullptr) start_thread();
    return std::nullopt;
  } catch (const std::exception& error) {
    return failure_of(error);
  }
}

void ThreadPerClient::start_thread() {
  demand_descriptors(descriptors_needed());
  demand_memory();
  std::promise<QtClient*> ready;
  std::future<QtClient*> client = ready.get_future();
  std::unique_ptr<QThread> thread(
      QThread::create([this, ready = std::move(ready)]() mutable { hold(std::move(ready)); }));
  thread->setStackSize(kStack);
  thread->start();
  if (!thread->isRunning()) throw std::system_error(EAGAIN, std::generic_category(), "QThread::start()");
  QThread* const started = thread.release();
  threads_.insert(started);
  QObject::connect(started, &QThread::finished, context(), [this, started] { join(started); });
  spare_ = client.get();
}

void ThreadPerClient::join(QThread* thread) {
  if (threads_.erase(thread) == 0) return;
  thread->wait();
  delete thread;
}

// Runs in the client's thread.
void ThreadPerClient::hold(std::promise<QtClient*> ready) {
  std::exception_ptr error;
  bool dismissed = false;
  {
    std::optional<QtClient> client;
    try {
      client.emplace(hosting(), stop(), [this] { client_dialled(); });
    } catch (...) {
      return ready.set_exception(std::current_exception());
    }
    ready.set_value(&*client);
    try {
      client->run();
    } catch (...) {
      error = std::current_exception();
    }
    dismissed = client->is_dismissed();
  }
  if (!dismissed) client_ended(error);
}

void ThreadPerClient::dismiss_spare() {
  if (spare_ != nullptr) std::exchange(spare_, nullptr)->dismiss();
}

}  // namespace

// optional/with_qt.cpp has the descriptor.
extern "C" void joust_run_qt_threads(const Hosting& hosting, Stop& stop) {
  const QtApplication application(hosting.tally);
  const SigpipeBlock block;  // QAbstractSocket::write() may raise it, on all threads
  run_in_qthread([&] { ThreadPerClient(hosting, stop).run(); });
}

}  // namespace joust
