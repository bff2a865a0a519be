// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "joust/protocol.hpp"

namespace joust {

// The whole program (serve, load, race and the rest) for `protocols`, of which there is at least one. Call it
// from main(), before there are other threads, and return what it returns: 0 ok, 1 run error, 2 usage,
// 3 measurement invalid, 99 a threshold or comparison failed. It throws nothing, and sets SIGPIPE and SIGXFSZ
// to be ignored.
int main(int argc, char** argv, std::vector<Protocol> protocols);
inline int main(int argc, char** argv, Protocol protocol) {
  std::vector<Protocol> protocols;
  protocols.push_back(std::move(protocol));
  return main(argc, argv, std::move(protocols));
}

}  // namespace joust
