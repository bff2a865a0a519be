// SPDX-License-Identifier: MIT
//
// The row of the engine on libevent, where it was not found at build time.
#include "engines/engine.hpp"

namespace joust {

extern const Engine kLibevent{
    .name = "libevent",
    .summary = "libevent: its loop calls back for each ready socket",
    .threads = "-",
    .unavailable = [] {
      return std::string("libevent 2.1 or newer not found at build time: script/setup loops && script/build");
    }};

}  // namespace joust
