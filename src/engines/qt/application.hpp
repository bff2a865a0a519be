// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "connection/tally.hpp"

namespace joust {

// Prepares the process for the engines on Qt while they run. Qt's event loops need a QCoreApplication, which
// stays in the thread that has made it. A thread of its own has it, from the first run to the end of the
// process, because Qt never frees all of an application that is not in the main thread. A program that has a
// QCoreApplication keeps it. Qt's warnings become notes of all runs in progress.
class QtApplication {
 public:
  explicit QtApplication(Tally& tally);
  ~QtApplication();
  QtApplication(const QtApplication&) = delete;
  QtApplication& operator=(const QtApplication&) = delete;

 private:
  Tally& tally_;
};

// The beginning of the note of a warning.
inline constexpr std::string_view kQtWarns = "Qt warns: ";

// Calls `body` in a QThread, and returns when it has ended; the thread's event loop ends with it. Throws the
// exception of `body`.
void run_in_qthread(const std::function<void()>& body);

// Throws std::system_error, EMFILE, unless `count` descriptors are left. A thread for which GLib or Qt cannot
// open one aborts the program.
void demand_descriptors(int count);

// Throws std::system_error, ENOMEM, unless memory is left within the process's limit (ulimit -v). GLib aborts
// the program when it gets none, and Qt does not notice.
void demand_memory();

// Throws std::system_error unless a thread of Qt can be started.
void demand_thread(unsigned stack_bytes);

// The descriptors of an event loop and of what an engine opens for it.
inline constexpr int kDescriptorsOfLoop = 4;

}  // namespace joust
