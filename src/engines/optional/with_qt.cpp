// SPDX-License-Identifier: MIT
//
// The rows of the engines on Qt. Their code is a module that is loaded when one of them runs, because Qt
// doubles the time and the memory that a program needs to start.
#include "engines/optional/module.hpp"

namespace joust {
namespace {

constexpr EngineModule kModule{
    .engines = "the engines on Qt", .installed = JOUST_QT_INSTALLED, .built = JOUST_QT_BUILT};

std::string no_module() {
  return kModule.missing();
}

void run_in_module(const char* entry, const Hosting& hosting, Stop& stop) {
  kModule.run(entry, hosting, stop);
}

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
  own.unavailable = no_module;
  return own;
}

}  // namespace

extern constinit const Engine kQt = on_qt({
    .name = "qt",
    .summary = "Qt: signals and slots on one event loop",
    .threads = "1",
    .run = [](const Hosting& hosting, Stop& stop) { run_in_module("joust_run_qt", hosting, stop); },
});
extern constinit const Engine kQtThreads = on_qt({
    .name = "qt-threads",
    .summary = "Qt: a QThread with an event loop for every client",
    .files_each = 3,  // the socket, and two of its event loop
    .own_threads = true,
    .threads = "one per client",
    .run = [](const Hosting& hosting, Stop& stop) { run_in_module("joust_run_qt_threads", hosting, stop); },
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
    .run = [](const Hosting& hosting, Stop& stop) { run_in_module("joust_run_qt_pool", hosting, stop); },
});

}  // namespace joust
