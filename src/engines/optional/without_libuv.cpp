// SPDX-License-Identifier: MIT
//
// The row of the engine on libuv, where it was not found at build time.
#include "engines/engine.hpp"

namespace joust {

extern const Engine kLibuv{
    .name = "libuv",
    .summary = "libuv: the event loop of Node.js, which reads and writes for its user",
    .threads = "-",
    .unavailable = [] {
      return std::string("libuv not found at build time: script/setup loops && script/build");
    }};

}  // namespace joust
