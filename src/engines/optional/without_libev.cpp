// SPDX-License-Identifier: MIT
//
// The row of the engine on libev, where it was not found at build time.
#include "engines/engine.hpp"

namespace joust {

extern const Engine kLibev{
    .name = "libev",
    .summary = "libev: its loop calls back for each ready socket",
    .threads = "-",
    .unavailable = [] {
      return std::string("libev not found at build time: script/setup loops && script/build");
    }};

}  // namespace joust
