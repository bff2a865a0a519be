// SPDX-License-Identifier: MIT
//
// The rows of the engines on Qt, where it was not found at build time.
#include "engines/engine.hpp"

namespace joust {
namespace {

std::string no_qt() {
  return "Qt 6.4 or newer (Core, Network) not found at build time: script/setup qt && script/build";
}

constexpr std::string_view kThreads = "-";

}  // namespace

extern const Engine kQt{.name = "qt",
                        .summary = "Qt: signals and slots on one event loop",
                        .threads = kThreads,
                        .unavailable = no_qt};
extern const Engine kQtThreads{.name = "qt-threads",
                               .summary = "Qt: a QThread with an event loop for every client",
                               .threads = kThreads,
                               .unavailable = no_qt};
extern const Engine kQtPool{.name = "qt-pool",
                            .summary = "Qt: a QThreadPool; each client occupies a thread, later ones wait",
                            .threads = kThreads,
                            .unavailable = no_qt};

}  // namespace joust
