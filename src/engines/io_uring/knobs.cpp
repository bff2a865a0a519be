// SPDX-License-Identifier: MIT
// Needs uring.
#include "engines/io_uring/knobs.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "engines/io_uring/kernel.hpp"

namespace joust {
namespace {

using Choice = std::string_view;

constexpr std::array<Choice, 2> kSqpoll{"off", "on"};
constexpr std::array<Choice, 3> kTaskrun{"defer", "coop", "plain"};
constexpr std::array<Choice, 3> kReceives{"multishot", "single", "bundle"};
constexpr std::array<Choice, 2> kBuffers{"incremental", "whole"};
constexpr std::array<Choice, 3> kSends{"copy", "zero-copy", "registered"};
constexpr std::array<Choice, 2> kDescriptors{"normal", "direct"};
constexpr std::array<Choice, 2> kMinWait{"off", "50us"};
constexpr std::array<Choice, 2> kNapi{"off", "50us"};
constexpr Duration kLeastWait = std::chrono::microseconds(50);
constexpr unsigned kNapi_us = 50;

std::string no_bundles(std::string_view choice) {
  return choice == "bundle" ? uring_lacks(UringFeature::bundles) : "";
}

// Only a kernel that reports its copies can be asked whether it sends without one.
std::string no_zero_copy(std::string_view choice) {
  return choice == "copy" ? "" : older_than({6, 2}, "it does not report whether it has copied after all");
}

std::string no_direct(std::string_view choice) {
  if (choice != "direct") return {};
  return older_than({6, 13},
                    "a removed socket stays open until all earlier operations of the ring have ended");
}

std::string no_min_wait(std::string_view choice) {
  return choice == "off" ? "" : uring_lacks(UringFeature::least_wait);
}

std::string no_napi(std::string_view choice) {
  return choice == "off" ? "" : uring_lacks(UringFeature::napi);
}

}  // namespace

constinit const std::array<Knob, 8> kUringKnobs{
    Knob{"sqpoll", kSqpoll,
         "a thread of the kernel submits, and the loop need not; it wants a CPU of its own (--cpus)", "on"},
    Knob{"taskrun", kTaskrun,
         "when completions are made: at the loop's wait, at its next system call, at once by an interrupt; "
         "not with sqpoll"},
    Knob{"receives",
         kReceives,
         "multishot: armed once; single: armed for each receive; bundle: multishot, several whole buffers at "
         "once",
         {},
         no_bundles},
    Knob{"buffers", kBuffers,
         "incremental: receives share a buffer; whole: each takes one, as with sqpoll, single and bundle"},
    Knob{"sends",
         kSends,
         "zero-copy: the kernel sends from the session's memory (on loopback it copies all the same); "
         "registered: from memory registered before, into which the loop copies",
         {},
         no_zero_copy},
    Knob{"descriptors",
         kDescriptors,
         "direct: sockets are in a table of the ring too, receives and sends need no look-up",
         {},
         no_direct},
    Knob{"min-wait",
         kMinWait,
         "a wait gathers completions for so long before it ends with few; not with sqpoll",
         {},
         no_min_wait},
    Knob{"napi",
         kNapi,
         "a wait polls the network card for so long before it sleeps; loopback has no card",
         {},
         no_napi},
};

DecidedKnob decided_uring_knob(std::string_view knob, const EngineOptions& options) {
  if (knob == "min-wait" && options.wait == Wait::spin) return {.by = "--wait spin", .value = "off"};
  if (options.is("sqpoll", "on")) {
    constexpr std::string_view kBy = "--sqpoll on";
    if (knob == "taskrun") return {.by = kBy, .value = "plain"};
    if (knob == "min-wait") return {.by = kBy, .value = "off"};
    if (knob == "buffers") return {.by = kBy, .value = "whole"};
  }
  if (knob != "buffers") return {};
  if (options.is("receives", "single")) return {.by = "--receives single", .value = "whole"};
  if (options.is("receives", "bundle")) return {.by = "--receives bundle", .value = "whole"};
  return {};
}

UringSetup with_knobs(UringSetup base, const EngineOptions& options, const Limits& limits) {
  base.kernel_submits = options.is("sqpoll", "on");
  base.watched = options.wait != Wait::block && !base.kernel_submits;
  if (options.is("taskrun", "coop")) base.task_run = TaskRun::coop;
  if (options.is("taskrun", "plain")) base.task_run = TaskRun::plain;
  if (options.is("receives", "single")) base.multishot_receive = false;
  if (options.is("receives", "bundle")) base.bundled_receive = base.multishot_receive;
  if (options.is("buffers", "whole") || base.bundled_receive) base.filled_buffers = 0;
  if (options.is("sends", "zero-copy")) base.send = UringSend::zero_copy;
  if (options.is("sends", "registered")) base.send = UringSend::registered;
  if (options.is("descriptors", "direct")) base.direct_descriptors = true;
  if (options.is("min-wait", "50us") && !base.kernel_submits) base.least_wait = kLeastWait;
  if (options.is("napi", "50us")) base.napi_us = kNapi_us;
  for (std::size_t* const bytes : {&base.buffer_bytes, &base.filled_bytes})
    *bytes = std::min(*bytes, limits.read_bytes);
  // A bundle may take all buffers that exist. They hold more than a turn's quota, so a peer that takes them
  // all rests, and others find buffers; but not much more.
  if (base.bundled_receive)
    base.buffer_bytes =
        std::clamp<std::size_t>(2 * limits.read_bytes_per_turn / base.buffers, 1, base.buffer_bytes);
  return base;
}

}  // namespace joust
