// SPDX-License-Identifier: MIT
//
// The rows of the engines on Qt and on ZeroMQ. Their code is in modules that are loaded when one of them
// runs, because these libraries would make every other command start later, and take more memory: Qt doubles
// both, and libzmq loads a dozen further libraries. A module takes all other code from the program that loads
// it.
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "connection/message_connection.hpp"
#include "engines/engine.hpp"

namespace joust {
namespace {

struct EngineModule {
  const char* engines;    // as text: "the engines on Qt"
  const char* not_built;  // why there is no module; empty if it was built
  const char* installed;  // its file, relative to the folder above the program's folder
  const char* built;      // its file where it was built

  std::string file() const { return own_file(installed, built).string(); }
  std::string unavailable() const;
  void run(const char* entry, const Hosting& hosting, Stop& stop) const;
};

// Returns why the module cannot be loaded; empty if its file exists.
std::string EngineModule::unavailable() const {
  if (*not_built != '\0') return not_built;
  if (!file().empty()) return {};
  return fmt::format("its module is missing: {}", why_no_own_file(installed));
}

// Calls the module's function `entry`. Throws std::runtime_error if the module cannot be loaded. It is never
// unloaded, because libraries keep objects that belong to threads.
void EngineModule::run(const char* entry, const Hosting& hosting, Stop& stop) const {
  if (const std::string missing = missing_of_library(file()); !missing.empty())
    throw std::runtime_error(fmt::format("{}: {}: {}", engines, file(), missing));
  void* const loaded = ::dlopen(file().c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void* const found = loaded == nullptr ? nullptr : ::dlsym(loaded, entry);
  if (found == nullptr) throw std::runtime_error(fmt::format("{}: {}", engines, ::dlerror()));
  reinterpret_cast<void (*)(const Hosting&, Stop&)>(found)(hosting, stop);
}

// CMakeLists.txt has the reasons from the engines' pages, and the places.
constexpr EngineModule kQtModule{.engines = "the engines on Qt",
                                 .not_built = JOUST_QT_MISSING,
                                 .installed = JOUST_QT_INSTALLED,
                                 .built = JOUST_QT_BUILT};
constexpr EngineModule kZmqModule{.engines = "the engines on ZeroMQ",
                                  .not_built = JOUST_ZEROMQ_MISSING,
                                  .installed = JOUST_ZEROMQ_INSTALLED,
                                  .built = JOUST_ZEROMQ_BUILT};

// Adds the fields that all engines on Qt have in common to the fields of one engine.
constexpr Engine on_qt(Engine own) {
  own.wait_ignored = "Qt's event loop waits";
  own.wait_errors_ignored = "GLib, which waits for Qt, repeats a poll() that has failed";
  own.ends_with_peer = "a QTcpSocket closes at the end of its peer's stream, and discards what is not sent";
  own.resets_are_ends = "a QTcpSocket reports a reset and the end of a stream by the same error";
  own.spins_at_shortage =
      "a QTcpServer that cannot accept for lack of descriptors tries again at once, and reports nothing";
  own.no_file_ring = "Qt reads from its sockets itself";
  own.no_file_mapping =
      "Qt copies all output, and in the mapping of a file that has shrunk that raises SIGBUS";
  own.in_module = true;
  own.keeps = "GLib keeps the descriptor of its default context, and a thread has the QCoreApplication";
  own.unavailable = [] { return kQtModule.unavailable(); };
  return own;
}

constexpr std::array<std::string_view, 3> kIoThreads{"1", "2", "4"};
constexpr std::array kZmqKnobs{
    Knob{"io-threads", kIoThreads, "threads of the library that read and write the sockets"}};

// The same for ZeroMQ.
constexpr Engine on_zeromq(Engine own) {
  own.delivery = MessageLink{}.delivery;  // whole messages, in order
  own.files_each = 2;                     // a mailbox, and the library's socket
  own.files_of_dial = 1;                  // asks whether anybody listens
  own.not_public =
      "ZeroMQ limits neither the parts of a message nor its connections, and its numbers of peers can be "
      "guessed";
  own.knobs = kZmqKnobs;
  own.in_module = true;
  own.unavailable = [] { return kZmqModule.unavailable(); };
  return own;
}

}  // namespace

extern constinit const Engine kQt = on_qt({
    .name = "qt",
    .summary = "Qt: signals and slots on one event loop",
    .threads = "1",
    .run = [](const Hosting& hosting, Stop& stop) { kQtModule.run("joust_run_qt", hosting, stop); },
});
extern constinit const Engine kQtThreads = on_qt({
    .name = "qt-threads",
    .summary = "Qt: a QThread with an event loop for every client",
    .files_each = 3,  // the socket, and two of its event loop
    .own_threads = true,
    .threads = "one per client",
    .run = [](const Hosting& hosting, Stop& stop) { kQtModule.run("joust_run_qt_threads", hosting, stop); },
});
extern constinit const Engine kQtPool = on_qt({
    .name = "qt-pool",
    .summary = "Qt: a QThreadPool; each client occupies a thread, later ones wait",
    .files_each = 3,
    .several_loops = true,
    .threads = "a pool (-t)",
    .clients_wait = "each client occupies a thread (-t) until it ends",
    .not_public =
        "each client occupies a thread (-t) until it ends, so a few silent ones keep all others out",
    .run = [](const Hosting& hosting, Stop& stop) { kQtModule.run("joust_run_qt_pool", hosting, stop); },
});

extern constinit const Engine kZeroMq = on_zeromq({
    .name = "zeromq",
    .summary = "ZeroMQ: ROUTER, DEALER, coroutines on one thread; no sender is held back alone",
    .threads = "one, and io-threads",
    .run = [](const Hosting& hosting, Stop& stop) { kZmqModule.run("joust_run_zeromq", hosting, stop); },
});
extern constinit const Engine kZeroMqPool = on_zeromq({
    .name = "zeromq-pool",
    .summary = "ZeroMQ: a ROUTER and coroutines on each thread; no sender is held back alone",
    .several_loops = true,
    .threads = "-t, and io-threads",
    .run = [](const Hosting& hosting, Stop& stop) { kZmqModule.run("joust_run_zeromq_pool", hosting, stop); },
});

}  // namespace joust
