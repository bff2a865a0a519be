// SPDX-License-Identifier: MIT
//
// The rows of the engines on ZeroMQ, where it was not found at build time.
#include "engines/zeromq/engines.hpp"

namespace joust {
namespace {

std::string no_zeromq() {
#if defined(__linux__)
  return "ZeroMQ 4.3 or newer not found at build time: script/setup zeromq && script/build";
#else
  return "the engines on ZeroMQ wait with epoll, which only Linux has";
#endif
}

constexpr Engine without_library(Engine row) {
  row.unavailable = no_zeromq;
  row.threads = "-";
  return row;
}

}  // namespace

extern constinit const Engine kZeroMq = without_library(kZeroMqRow);
extern constinit const Engine kZeroMqPool = without_library(kZeroMqPoolRow);

}  // namespace joust
