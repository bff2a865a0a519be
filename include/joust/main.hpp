// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "joust/protocol.hpp"

namespace joust {

// Runs the complete program (serve, load, race and the other commands) for `protocols`, at least one, and for
// plug-ins (joust/plugin.h). Call
// this function from main() before starting other threads, and return its result: 0 ok, 1 run error, 2 usage,
// 3 measurement invalid, 99 a threshold or comparison failed. Throws nothing. Sets SIGPIPE and SIGXFSZ to be
// ignored.
int main(int argc, char** argv, std::vector<Protocol> protocols);
inline int main(int argc, char** argv, Protocol protocol) {
  std::vector<Protocol> protocols;
  protocols.push_back(std::move(protocol));
  return main(argc, argv, std::move(protocols));
}

}  // namespace joust
