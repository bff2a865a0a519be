// SPDX-License-Identifier: MIT
#include "measure/environment.hpp"

#include <fmt/core.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <set>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "base/build_facts.hpp"
#include "base/text.hpp"
#include "measure/proc_file.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

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

namespace {

constexpr const char* kUnknown = "unknown";

struct SystemFact {
  const char* name;
  const char* path;
  bool must_agree = true;
};

// Settings that are the content of a file with one value.
constexpr SystemFact kMachine[] = {
    {"kernel", "proc/sys/kernel/osrelease"},
    {"online_cpus", "sys/devices/system/cpu/online"},
    {"smt", "sys/devices/system/cpu/smt/control"},
    {"clocksource", "sys/devices/system/clocksource/clocksource0/current_clocksource"},
};
// The kernel's build and boot, and the power management: informative only, because some lines differ from
// boot to boot.
constexpr SystemFact kBoot[] = {
    {"kernel_build", "proc/version", false},
    {"boot_command_line", "proc/cmdline", false},
    {"isolated_cpus", "sys/devices/system/cpu/isolated", false},
    {"nohz_full_cpus", "sys/devices/system/cpu/nohz_full", false},
    {"transparent_hugepage", "sys/kernel/mm/transparent_hugepage/enabled", false},
    {"randomize_va_space", "proc/sys/kernel/randomize_va_space", false},
    {"cpu_boost", "sys/devices/system/cpu/cpufreq/boost", false},
    {"intel_no_turbo", "sys/devices/system/cpu/intel_pstate/no_turbo", false},
    {"idle_driver", "sys/devices/system/cpu/cpuidle/current_driver", false},
    {"numa_nodes", "sys/devices/system/node/online", false},
};
constexpr SystemFact kSysctls[] = {
    {"tcp_congestion_control", "proc/sys/net/ipv4/tcp_congestion_control"},
    // Informative only: the algorithm that a trial used is read back from its sockets.
    {"tcp_allowed_congestion_control", "proc/sys/net/ipv4/tcp_allowed_congestion_control", false},
    {"tcp_rmem", "proc/sys/net/ipv4/tcp_rmem"},
    {"tcp_wmem", "proc/sys/net/ipv4/tcp_wmem"},
    {"tcp_max_syn_backlog", "proc/sys/net/ipv4/tcp_max_syn_backlog"},
    {"ip_local_port_range", "proc/sys/net/ipv4/ip_local_port_range"},
    {"somaxconn", "proc/sys/net/core/somaxconn"},
    {"rmem_default", "proc/sys/net/core/rmem_default"},
    {"rmem_max", "proc/sys/net/core/rmem_max"},
    {"wmem_default", "proc/sys/net/core/wmem_default"},
    {"wmem_max", "proc/sys/net/core/wmem_max"},
    {"tcp_slow_start_after_idle", "proc/sys/net/ipv4/tcp_slow_start_after_idle"},
    {"tcp_no_metrics_save", "proc/sys/net/ipv4/tcp_no_metrics_save"},
    {"tcp_autocorking", "proc/sys/net/ipv4/tcp_autocorking"},
    {"default_qdisc", "proc/sys/net/core/default_qdisc"},
    {"netdev_max_backlog", "proc/sys/net/core/netdev_max_backlog"},
    {"backlog_threaded", "proc/sys/net/core/backlog_threaded"},
    {"busy_poll", "proc/sys/net/core/busy_poll"},
    {"busy_read", "proc/sys/net/core/busy_read"},
    {"io_uring_disabled", "proc/sys/kernel/io_uring_disabled"},
};

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : trimmed(text)) line += c == '\t' || c == '\n' ? ' ' : c;
  return line.empty() ? kUnknown : line;
}

std::string file_value(const std::string& path) {
  return one_line(read_proc_file(path).value_or(""));
}

// Returns the paths in a directory in a fixed order; none when it cannot be read.
std::set<std::filesystem::path> entries_of(const std::string& directory) {
  std::set<std::filesystem::path> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error))
    paths.insert(entry->path());
  return paths;
}

std::string digest_64(std::string_view text) {
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

// Returns the hypervisor's name for itself (CPUID leaf 0x40000000), "none" on bare metal.
std::string hypervisor() {
#if defined(__x86_64__) || defined(__i386__)
  constexpr unsigned kRunsUnderHypervisor = 1u << 31;
  unsigned a = 0, b = 0, c = 0, d = 0;
  __cpuid(1, a, b, c, d);
  if ((c & kRunsUnderHypervisor) == 0) return "none";
  unsigned signature[3] = {};
  __cpuid(0x40000000, a, signature[0], signature[1], signature[2]);
  const std::string_view name(reinterpret_cast<const char*>(signature), sizeof signature);
  return one_line(name.substr(0, name.find('\0')));
#else
  return kUnknown;
#endif
}

// Returns one digest of some twenty files with a sentence each: the kernel's mitigations of CPU
// vulnerabilities.
std::string mitigations(const std::string& root) {
  std::string all;
  for (const auto& path : entries_of(root + "sys/devices/system/cpu/vulnerabilities"))
    all += path.filename().native() + ": " + file_value(path.native()) + '\n';
  return all.empty() ? kUnknown : digest_64(all);
}

// Returns the governor: "performance", or "performance+powersave" where CPUs differ.
std::string governor(const std::string& root) {
  std::set<std::string> governors;
  for (const auto& path : entries_of(root + "sys/devices/system/cpu"))
    if (const auto name = read_proc_file(path.native() + "/cpufreq/scaling_governor"))
      governors.insert(one_line(*name));
  std::string text;
  for (const std::string& name : governors) text += (text.empty() ? "" : "+") + name;
  return text.empty() ? kUnknown : text;
}

// Returns a limit as "soft/hard".
std::string limit(auto resource) {
  rlimit limits{};
  if (::getrlimit(resource, &limits) != 0) return kUnknown;
  const auto text = [](rlim_t value) { return value == RLIM_INFINITY ? "unlimited" : std::to_string(value); };
  return text(limits.rlim_cur) + "/" + text(limits.rlim_max);
}

// Returns the C library that runs, which may be another version than the one at build time.
std::string c_library() {
#if defined(__GLIBC__)
  return std::string("glibc ") + ::gnu_get_libc_version();
#else
  return kUnknown;
#endif
}

std::string compiler() {
#if defined(__clang__)
  return __VERSION__;
#else
  return std::string("GCC ") + __VERSION__;
#endif
}

// Returns the XXH3-128 of this program in its canonical form, as xxh128sum prints it.
std::string own_hash(const std::string& root) {
  const auto program = read_proc_file(root + "proc/self/exe");
  if (!program) return kUnknown;
  const XXH128_hash_t hash = XXH3_128bits(program->data(), program->size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace

std::string_view Environment::value(std::string_view name) const {
  const auto item = std::ranges::find(items, name, &Item::name);
  return item == items.end() ? kUnknown : std::string_view(item->value);
}

std::string Environment::fingerprint() const {
  std::string text;
  for (const Item& item : items)
    if (item.must_agree) text += item.name + '=' + item.value + '\n';
  return digest_64(text);
}

Environment read_environment(const std::string& root) {
  Environment environment;
  const auto add = [&](std::string_view name, std::string value, bool must_agree = true) {
    environment.items.push_back({std::string(name), std::move(value), must_agree});
  };
  for (const SystemFact& one : kMachine) add(one.name, file_value(root + one.path), one.must_agree);
  add("cpu_model", one_line(cpu_model(read_proc_file(root + "proc/cpuinfo").value_or(""),
                                      read_proc_file(root + "proc/device-tree/model").value_or(""))));
  add("hypervisor", hypervisor());
  add("mitigations", mitigations(root));
  add("governor", governor(root));
  for (const SystemFact& one : kBoot) add(one.name, file_value(root + one.path), one.must_agree);
  for (const SystemFact& one : kSysctls) add(one.name, file_value(root + one.path), one.must_agree);
  add("limit_nofile", limit(RLIMIT_NOFILE));
  add("limit_nproc", limit(RLIMIT_NPROC), false);  // reached or not: it does not slow a run down
  add("compiler", compiler());
  add("build_type", std::string(build::kType));
  add("sanitizers", std::string(build::kSanitizers.empty() ? "none" : build::kSanitizers));
  add("fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100));
  for (const std::string_view library : split(build::kLibraries, ',')) {
    const std::size_t end = library.find('=');
    add(library.substr(0, end), std::string(library.substr(end + 1)));
  }
  add("c_library", c_library());
  add("joust_version", std::string(build::kVersion), false);  // two versions on one machine can be compared
  add("program_xxh3_128", own_hash(root), false);
  return environment;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

}  // namespace joust
