// SPDX-License-Identifier: MIT
#include "measure/cpu_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <vector>

#include "measure/proc_file.hpp"

namespace joust {
namespace {

struct Name {
  unsigned number;
  std::string_view text;
};

// Main ID Register, field "Implementer" (Arm Architecture Reference Manual).
constexpr std::array kImplementers{Name{0x41, "Arm"},       Name{0x42, "Broadcom"},  Name{0x43, "Cavium"},
                                   Name{0x46, "Fujitsu"},   Name{0x48, "HiSilicon"}, Name{0x4e, "NVIDIA"},
                                   Name{0x51, "Qualcomm"},  Name{0x53, "Samsung"},   Name{0x61, "Apple"},
                                   Name{0x6d, "Microsoft"}, Name{0xc0, "Ampere"}};

// Arm's own cores: field "PartNum" in each core's Technical Reference Manual.
constexpr std::array kArmParts{
    Name{0xb76, "ARM1176"},     Name{0xc07, "Cortex-A7"},   Name{0xc08, "Cortex-A8"},
    Name{0xc09, "Cortex-A9"},   Name{0xc0f, "Cortex-A15"},  Name{0xd03, "Cortex-A53"},
    Name{0xd04, "Cortex-A35"},  Name{0xd05, "Cortex-A55"},  Name{0xd07, "Cortex-A57"},
    Name{0xd08, "Cortex-A72"},  Name{0xd09, "Cortex-A73"},  Name{0xd0a, "Cortex-A75"},
    Name{0xd0b, "Cortex-A76"},  Name{0xd0c, "Neoverse-N1"}, Name{0xd0d, "Cortex-A77"},
    Name{0xd40, "Neoverse-V1"}, Name{0xd41, "Cortex-A78"},  Name{0xd44, "Cortex-X1"},
    Name{0xd46, "Cortex-A510"}, Name{0xd47, "Cortex-A710"}, Name{0xd48, "Cortex-X2"},
    Name{0xd49, "Neoverse-N2"}, Name{0xd4a, "Neoverse-E1"}, Name{0xd4d, "Cortex-A715"},
    Name{0xd4e, "Cortex-X3"},   Name{0xd4f, "Neoverse-V2"}, Name{0xd80, "Cortex-A520"},
    Name{0xd81, "Cortex-A720"}, Name{0xd82, "Cortex-X4"},   Name{0xd84, "Neoverse-V3"},
    Name{0xd8e, "Neoverse-N3"}};
constexpr unsigned kArm = 0x41;

std::string_view name_of(std::span<const Name> names, unsigned number) {
  const auto found = std::ranges::find(names, number, &Name::number);
  return found == names.end() ? std::string_view() : found->text;
}

// Returns the value of a line such as "CPU part\t: 0xd0c".
std::string_view value_of(std::string_view text, std::string_view key) {
  const std::string_view rest = field_of(text, key).value_or("");
  return rest.starts_with(':') ? trimmed(rest.substr(1)) : std::string_view();
}

unsigned number_of(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  const std::string_view digits = text.substr(hexadecimal ? 2 : 0);
  unsigned number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, hexadecimal ? 16 : 10);
  return number;
}

// Describes a core: "Arm Neoverse-N1 r3p1". An unknown part has its number. Empty for other processors than
// ARM.
std::string arm_core(std::string_view core) {
  const std::string_view implementer = value_of(core, "CPU implementer");
  if (implementer.empty()) return {};
  const std::string_view part = value_of(core, "CPU part"),
                         maker = name_of(kImplementers, number_of(implementer));
  const std::string_view known =
      number_of(implementer) == kArm ? name_of(kArmParts, number_of(part)) : std::string_view();
  return fmt::format("{} {} r{}p{}",
                     maker.empty() ? fmt::format("implementer {}", implementer) : std::string(maker),
                     known.empty() ? fmt::format("part {}", part) : std::string(known),
                     number_of(value_of(core, "CPU variant")), number_of(value_of(core, "CPU revision")));
}

// Lists each kind of ARM core once, in the order of the CPUs.
std::string arm_cores(std::string_view cpuinfo) {
  std::vector<std::string> kinds;
  std::string text;
  for (std::size_t at = 0; at < cpuinfo.size();) {
    const std::size_t end = std::min(cpuinfo.find("\n\n", at), cpuinfo.size());
    const std::string kind = arm_core(cpuinfo.substr(at, end - at));
    at = end + 2;
    if (kind.empty() || std::ranges::find(kinds, kind) != kinds.end()) continue;
    text += (text.empty() ? "" : " + ") + kind;
    kinds.push_back(kind);
  }
  return text;
}

}  // namespace

std::string cpu_model(std::string_view cpuinfo, std::string_view board) {
  std::string_view machine = trimmed(board.substr(0, board.find('\0')));
  if (machine.empty()) machine = value_of(cpuinfo, "Model");  // 32-bit ARM
  // ARM cores come before "model name", which on 32-bit ARM names the architecture only.
  std::string model = arm_cores(cpuinfo);
  for (const char* key : {"model name", "cpu model", "cpu", "uarch"})  // x86; MIPS; POWER; RISC-V
    if (model.empty()) model = value_of(cpuinfo, key);
  if (!machine.empty()) model += (model.empty() ? "" : "; ") + std::string(machine);
  return model;
}

}  // namespace joust
