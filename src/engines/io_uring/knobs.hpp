// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engines/engine.hpp"
#include "joust/engines.hpp"
#include "joust/limits.hpp"
#include "joust/time.hpp"

namespace joust {

// When the thread of a loop does the kernel's part of an operation that has become possible.
enum class TaskRun : std::uint8_t {
  defer,  // at its own wait, SINGLE_ISSUER and DEFER_TASKRUN (Linux 6.1); on older kernels as `coop`
  coop,   // at its next system call, COOP_TASKRUN
  plain,  // at once: the kernel interrupts the thread
};

// How output is sent.
enum class UringSend : std::uint8_t {
  copy,       // the kernel copies it into the socket
  zero_copy,  // the kernel uses the session's memory until the peer has acknowledged it
  registered  // the same, from memory that the kernel knows already; the loop copies output into it
};

// The size and features of one loop's ring, made from the knobs of the engine. Tests make it small, or leave
// out features of newer kernels.
struct UringSetup {
  unsigned submissions = 1024;          // operations between two enters; more cost an extra enter
  unsigned completions = 4096;          // beyond it the kernel keeps them in a list, and ends multishots
  unsigned buffers = 256;               // for receiving; a power of two
  std::size_t buffer_bytes = 16 << 10;  // the most bytes of one completion
  unsigned filled_buffers = 16;         // instead, if receives share buffers (Linux 6.12); 0: never
  std::size_t filled_bytes = 64 << 10;
  TaskRun task_run = TaskRun::defer;
  bool multishot_receive = true;  // Linux 6.0
  bool bundled_receive = false;   // one completion for several buffers (Linux 6.10); needs multishot_receive
  UringSend send = UringSend::copy;
  bool direct_descriptors = false;         // sockets are in a table of the ring
  Duration least_wait = Duration::zero();  // a wait gathers completions for so long (Linux 6.12)
  unsigned napi_us = 0;                    // a wait polls network cards for so long; 0: never (Linux 6.9)
  bool kernel_submits = false;             // SQPOLL
  bool watched = false;  // for a loop that spins: it enters only when shared memory demands it
};

// The knobs of the engine io-uring. Each changes the set-up of the ring, or the preparation of one operation.
// Choices that this kernel lacks have the reason.
extern const std::array<Knob, 8> kUringKnobs;

// See Engine::decided.
DecidedKnob decided_uring_knob(std::string_view knob, const EngineOptions& options);

// Returns `base`, changed as the knobs and the limits demand.
UringSetup with_knobs(UringSetup base, const EngineOptions& options, const Limits& limits);

}  // namespace joust
