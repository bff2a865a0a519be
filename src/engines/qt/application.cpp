// SPDX-License-Identifier: MIT
#include "engines/qt/application.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <QAbstractEventDispatcher>
#include <QCoreApplication>
#include <QThread>
#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <exception>
#include <future>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/fd.hpp"
#include "base/signals.hpp"

namespace joust {
namespace {

// The event dispatcher of the application's thread, in which nothing happens. GLib's default context would
// keep a descriptor for ever.
class NoEvents : public QAbstractEventDispatcher {
 public:
  bool processEvents(QEventLoop::ProcessEventsFlags) override { return false; }
  void registerSocketNotifier(QSocketNotifier*) override {}
  void unregisterSocketNotifier(QSocketNotifier*) override {}
  void registerTimer(int, qint64, Qt::TimerType, QObject*) override {}
  bool unregisterTimer(int) override { return false; }
  bool unregisterTimers(QObject*) override { return false; }
  QList<TimerInfo> registeredTimers(QObject*) const override { return {}; }
  int remainingTime(int) override { return -1; }
  void wakeUp() override {}
  void interrupt() override {}
};

// Protects the variables that follow.
std::mutex mutex;
std::vector<Tally*> runs;
QtMessageHandler handler_before = nullptr;
struct sigaction sigpipe_before;  // Qt's first write ignores the signal, in the whole process

void ignore(QtMsgType, const QMessageLogContext&, const QString&) {}

void note_warning(QtMsgType type, const QMessageLogContext& context, const QString& text) {
  if (type == QtFatalMsg) return handler_before(type, context, text);
  const std::lock_guard lock(mutex);
  for (Tally* tally : runs) tally->note(std::string(kQtWarns) + text.toStdString());
}

// Qt takes the locale of the environment for the whole process, and warns if it is not UTF-8. Both objects
// stay until the process ends, and are static: a process that is forked has no such thread, whose stack might
// refer to them.
void hold_application(std::promise<void>& made) {
  static std::array<char, 6> name{"joust"};
  static std::array<char*, 2> arguments{name.data(), nullptr};
  static int count = 1;
  const std::string locale = std::setlocale(LC_ALL, nullptr);
  QtMessageHandler before = qInstallMessageHandler(ignore);
  QCoreApplication::setEventDispatcher(new NoEvents);  // owned by the application from here on
  static const auto* const application = new QCoreApplication(count, arguments.data());
  static_cast<void>(application);
  qInstallMessageHandler(before);
  std::setlocale(LC_ALL, locale.c_str());
  static auto* const never = new std::promise<void>;
  made.set_value();
  never->get_future().wait();
}

}  // namespace

QtApplication::QtApplication(Tally& tally) : tally_(tally) {
  const std::lock_guard lock(mutex);
  if (runs.empty()) {
    if (QCoreApplication::instance() == nullptr) {
      std::promise<void> made;
      std::thread([&] { hold_application(made); }).detach();
      made.get_future().wait();
    }
    handler_before = qInstallMessageHandler(note_warning);
    ::sigaction(SIGPIPE, nullptr, &sigpipe_before);
  }
  runs.push_back(&tally_);
}

QtApplication::~QtApplication() {
  const std::lock_guard lock(mutex);
  runs.erase(std::ranges::find(runs, &tally_));
  if (!runs.empty()) return;
  qInstallMessageHandler(handler_before);
  ::sigaction(SIGPIPE, &sigpipe_before, nullptr);
}

void run_in_qthread(const std::function<void()>& body) {
  demand_descriptors(kDescriptorsOfLoop);
  std::exception_ptr error;
  const SigpipeBlock block;  // QTcpSocket::write() may raise it, on all threads
  const std::unique_ptr<QThread> thread(QThread::create([&] {
    try {
      body();
    } catch (...) {
      error = std::current_exception();
    }
  }));
  thread->start();
  if (!thread->isRunning() && !thread->isFinished())
    throw std::system_error(EAGAIN, std::generic_category(), "QThread::start()");
  thread->wait();
  if (error) std::rethrow_exception(error);
}

void demand_thread(unsigned stack_bytes) {
  QThread thread;
  thread.setStackSize(stack_bytes);
  thread.start();
  if (!thread.isRunning()) throw std::system_error(EAGAIN, std::generic_category(), "QThread::start()");
  thread.quit();
  thread.wait();
}

void demand_memory() {
  constexpr std::size_t kSpare = 4 << 20;
  void* const memory = ::mmap(nullptr, kSpare, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "an event loop of Qt");
  ::munmap(memory, kSpare);
}

void demand_descriptors(int count) {
  std::vector<Fd> all;
  for (int i = 0; i < count; ++i) {
    all.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!all.back().is_open()) throw std::system_error(errno, std::generic_category(), "an event loop of Qt");
  }
}

}  // namespace joust
