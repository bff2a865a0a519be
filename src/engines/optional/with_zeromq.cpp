// SPDX-License-Identifier: MIT
//
// The rows of the engines on ZeroMQ. Their code is a module that is loaded when one of them runs, because
// libzmq loads a dozen further libraries, and every command would take half as long again to start.
#include "engines/optional/module.hpp"
#include "engines/zeromq/engines.hpp"

namespace joust {
namespace {

constexpr EngineModule kModule{
    .engines = "the engines on ZeroMQ", .installed = JOUST_ZEROMQ_INSTALLED, .built = JOUST_ZEROMQ_BUILT};

constexpr Engine in_module(Engine row, void (*run)(const Hosting&, Stop&)) {
  row.in_module = true;
  row.unavailable = [] { return kModule.missing(); };
  row.run = run;
  return row;
}

}  // namespace

extern constinit const Engine kZeroMq = in_module(
    kZeroMqRow, [](const Hosting& hosting, Stop& stop) { kModule.run("joust_run_zeromq", hosting, stop); });
extern constinit const Engine kZeroMqPool = in_module(kZeroMqPoolRow, [](const Hosting& hosting, Stop& stop) {
  kModule.run("joust_run_zeromq_pool", hosting, stop);
});

}  // namespace joust
