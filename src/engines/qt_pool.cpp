// SPDX-License-Identifier: MIT
//
// qt-pool: a QThreadPool of -t threads. A client is a QRunnable with an event loop; it occupies a thread
// until it has ended, and later clients wait.
//
//     QTcpServer::newConnection --> QThreadPool::start --> [wait] --> a thread:  exec --> readyRead -->
//     session
//                                                            ^                    ^                       |
//                                                            |                    +-------- write <-------+
//                                                            +---- a client has ended
//
// Good at: a bounded number of threads, for clients that come, ask and leave. Bad at: clients that stay.
// Clients beyond -t are accepted and not served, for as long as the others are connected; the results report
// their number. So a race needs as many threads as connections. A thread of the pool serves later clients
// too, but each client costs the start of a thread all the same, see prepare_thread(). qt.cpp has the slots,
// and qt/clients.cpp passes the sockets on.
#include <QThreadPool>
#include <cstddef>
#include <future>
#include <memory>

#include "connection/tally.hpp"
#include "engines/qt/application.hpp"
#include "engines/qt/clients.hpp"

#include <fmt/format.h>

namespace joust {
namespace {

class ClientPool : public QtClients {
 public:
  ClientPool(const Hosting& hosting, Stop& stop, LoopGroup& group);
  ~ClientPool() override;

 private:
  std::optional<Failure> shortage() override;
  void prepare_thread() override;
  void start(std::unique_ptr<QtClient>& client) override;

  std::size_t started_ = 0;  // clients
  std::size_t waited_ = 0;   // of these, the ones for which no thread was free
  QThreadPool pool_;
};

ClientPool::ClientPool(const Hosting& hosting, Stop& stop, LoopGroup& group)
    : QtClients(hosting, stop, group, 0) {
  pool_.setMaxThreadCount(static_cast<int>(hosting.options.threads));
  pool_.setStackSize(kStack);
}

ClientPool::~ClientPool() {
  pool_.clear();  // deletes the clients that wait
  end_clients();
  pool_.waitForDone();
  if (waited_ > 0)
    hosting().tally.note(fmt::format("{} of {} clients waited for one of the {} threads (-t)", waited_,
                                     started_, hosting().options.threads));
}

std::optional<Failure> ClientPool::shortage() {
  return pool_.activeThreadCount() < pool_.maxThreadCount() ? QtClients::shortage() : std::nullopt;
}

// A QThreadPool does not report that a thread could not be started: the client for it is lost, and the end of
// the pool waits for it for ever. Nor does it say whether it has a thread that waits. So a thread is started
// on trial.
void ClientPool::prepare_thread() {
  demand_thread(kStack);
}

// Waits until a client that gets a thread at once has the descriptors of its event loop, before another
// client is accepted: in a burst of peers none would be left for it.
void ClientPool::start(std::unique_ptr<QtClient>& client) {
  const std::future<void> begun = client->begun();
  const bool runs = pool_.tryStart(client.get());
  if (!runs) pool_.start(client.get());
  static_cast<void>(client.release());  // the pool deletes it
  ++started_;
  if (runs) return begun.wait();
  ++waited_;
}

}  // namespace

// modules.cpp has the descriptor.
extern "C" void joust_run_qt_pool(const Hosting& hosting, Stop& stop) {
  const QtApplication application(hosting.tally);
  run_in_qthread([&] {
    LoopGroup group(1);
    ClientPool pool(hosting, stop, group);
    hosting.ready();
    pool.run();
  });
}

}  // namespace joust
