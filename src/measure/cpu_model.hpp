// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace joust {

// Returns the model of a CPU from the text of /proc/cpuinfo: "Intel(R) Xeon(R) Processor". On ARM, where the
// kernel has numbers only, returns each kind of core once, with its revision, and the board where it is
// known: "Arm Cortex-A72 r0p3; Raspberry Pi 4 Model B Rev 1.4". `board` is the text of the device tree's
// "model", which may be empty. Empty if the text has no model.
std::string cpu_model(std::string_view cpuinfo, std::string_view board);

}  // namespace joust
