// SPDX-License-Identifier: MIT
//
// qt-pool: a QThreadPool of -t threads. A client occupies one of them, with an event loop, until it has
// ended; later clients wait.
//
//     host   accept --> QThreadPool::start --> [wait] --> a thread:  exec --> readyRead --> session --> write
//                                                ^                     ^                                  |
//                                                |                     +----------------------------------+
//                                                +---- a client has ended
//
// Good at: a bounded number of threads, for clients that come, ask and leave. Bad at: clients that stay.
// Clients beyond -t are accepted and not served, for as long as the others are connected; the results report
// their number. So a race needs as many threads as connections. It then measures `qt-threads` without the
// start of a thread for each client. qt/loop.cpp has the slots, qt/host.cpp accepts.
#include <QThreadPool>
#include <atomic>
#include <future>
#include <memory>

#include "base/sigpipe.hpp"
#include "engines/qt/application.hpp"
#include "engines/qt/client.hpp"
#include "engines/qt/host.hpp"

#include <fmt/format.h>

namespace joust {
namespace {

constexpr uint kStack = 256 << 10;

class ClientPool : public QtHost {
 public:
  ClientPool(const Hosting& hosting, Stop& stop);
  ~ClientPool() override;

 private:
  // A client that waits for a thread. If it gets none, it ends with the pool's queue.
  struct Waiting {
    Waiting(ClientPool& in, Fd&& owned) : pool(in), socket(std::move(owned)) {}
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

    ClientPool& pool;
    Fd socket;
    bool served = false;
    std::promise<void> begun{};  // its loop has what it needs, or cannot have it
  };

  std::optional<Failure> prepare() noexcept override;
  void start(Fd socket) override;
  void end_drain() override { pool_.clear(); }
  void serve(Waiting& client);

  std::size_t started_ = 0;               // clients that were started
  std::atomic<std::size_t> present_ = 0;  // clients that were started and have not ended
  std::size_t waited_ = 0;
  QThreadPool pool_;
};

ClientPool::ClientPool(const Hosting& hosting, Stop& stop) : QtHost(hosting, stop) {
  pool_.setMaxThreadCount(static_cast<int>(hosting.options.threads));
  pool_.setStackSize(kStack);
}

ClientPool::~ClientPool() {
  pool_.clear();
  pool_.waitForDone();
  if (waited_ > 0)
    hosting().tally.note(fmt::format("{} of {} clients waited for one of the {} threads (-t)", waited_,
                                     started_, hosting().options.threads));
}

ClientPool::Waiting::~Waiting() {
  pool.present_.fetch_sub(1);
  if (served) return;
  pool.hosting().not_opened({Stage::timeout, 0, "no thread of the pool was free until the stop"},
                            Clock::now());
  pool.client_ended(nullptr);
}

// A QThreadPool does not report that a thread could not be started, and the task for that thread is lost. So
// a thread is started first, as a trial.
std::optional<Failure> ClientPool::prepare() noexcept {
  try {
    demand_descriptors(descriptors_needed());
    demand_memory();
    if (present_ < hosting().options.threads) demand_thread(kStack);
    return std::nullopt;
  } catch (const std::exception& error) {
    return failure_of(error);
  }
}

// Waits until a client that gets a thread at once has opened its descriptors, before the next one is
// accepted. In a burst of peers no descriptor would be left for a thread, and GLib would abort the program.
void ClientPool::start(Fd socket) {
  ++started_;
  const auto client = std::make_shared<Waiting>(*this, std::move(socket));
  const bool waits = present_.fetch_add(1) >= hosting().options.threads;
  if (waits) ++waited_;
  pool_.start([this, client] { serve(*client); });
  if (!waits) client->begun.get_future().wait();
}

// Runs in a thread of the pool.
void ClientPool::serve(Waiting& client) {
  client.served = true;
  std::optional<QtClient> loop;
  std::optional<Failure> shortage;
  try {
    loop.emplace(hosting(), stop(), [this] { client_dialled(); });
  } catch (const std::exception& error) {
    shortage = failure_of(error);
  }
  client.begun.set_value();
  if (shortage) return client_failed(*shortage);
  std::exception_ptr error;
  try {
    loop->give(std::move(client.socket));
    loop->run();
  } catch (...) {
    error = std::current_exception();
  }
  loop.reset();
  client_ended(error);
}

}  // namespace

// optional/with_qt.cpp has the descriptor.
extern "C" void joust_run_qt_pool(const Hosting& hosting, Stop& stop) {
  const QtApplication application(hosting.tally);
  const SigpipeBlock block;  // QAbstractSocket::write() may raise it, on all threads
  run_in_qthread([&] { ClientPool(hosting, stop).run(); });
}

}  // namespace joust
