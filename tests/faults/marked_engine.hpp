// SPDX-License-Identifier: MIT
#pragma once

#include "conformance/variants.hpp"
#include "faults/seam.hpp"
#include "net/listener.hpp"

namespace joust::faults {

// The variant's engine, whose run() marks its thread as an engine's. One that ends early closes its
// listeners, as the end of the program would, so that nobody waits in the accept queue for it. One at a time.
class MarkedEngine {
 public:
  explicit MarkedEngine(const conformance::Variant& variant) : engine_(*variant.engine), variant_(variant) {
    inner = variant.engine->run;
    engine_.run = [](const Hosting& hosting, Stop& stop) {
      const EngineThread mark;
      try {
        inner(hosting, stop);
      } catch (...) {
        for (Listener* const listener : hosting.listeners) listener->close();
        throw;
      }
    };
    variant_.engine = &engine_;
  }
  MarkedEngine(const MarkedEngine&) = delete;
  MarkedEngine& operator=(const MarkedEngine&) = delete;

  const conformance::Variant& variant() const { return variant_; }

 private:
  inline static void (*inner)(const Hosting&, Stop&) = nullptr;

  Engine engine_;
  conformance::Variant variant_;
};

}  // namespace joust::faults
