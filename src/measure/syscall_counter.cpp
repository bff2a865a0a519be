// SPDX-License-Identifier: MIT
#include "measure/syscall_counter.hpp"

#include <fmt/format.h>
#ifdef __linux__
#include <linux/perf_event.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#endif
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "base/check.hpp"
#include "measure/proc_file.hpp"

namespace joust {

#ifdef __linux__

namespace {

constexpr const char* kTracepoint = "events/raw_syscalls/sys_enter/id";

// Opens a tracefs of our own that is mounted nowhere. The machine's mounts do not change, and it ends with
// the descriptor.
std::expected<Fd, std::string> detached_tracefs() {
  const auto refused = [](const char* call) {
    const int error = errno;
    return std::unexpected(
        error == EPERM || error == EACCES
            ? std::string("the kernel's list of tracepoints may be read by root only")
            : fmt::format("the kernel's list of tracepoints is out of reach: {}(tracefs): {}", call,
                          std::strerror(error)));
  };
  const Fd context(::fsopen("tracefs", FSOPEN_CLOEXEC));
  if (!context.is_open()) return refused("fsopen");
  if (::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) < 0) return refused("fsconfig");
  Fd mount(::fsmount(context.get(), FSMOUNT_CLOEXEC, 0));
  if (!mount.is_open()) return refused("fsmount");
  return mount;
}

// Returns perf_event_open()'s number of the tracepoint, which differs between kernels.
std::expected<std::uint64_t, std::string> tracepoint_number() {
  std::optional<std::string> text;
  for (const char* directory : {"/sys/kernel/tracing/", "/sys/kernel/debug/tracing/"})
    if (!text) text = read_proc_file(std::string(directory) + kTracepoint);
  if (!text) {
    const auto tracefs = detached_tracefs();
    if (!tracefs) return std::unexpected(tracefs.error());
    text = read_proc_file_at(tracefs->get(), kTracepoint);
  }
  if (!text) return std::unexpected("the kernel was built without the tracepoint raw_syscalls:sys_enter");
  return leading_number(*text);
}

std::string why_not_open(int error) {
  if (error != EACCES && error != EPERM)
    return fmt::format("perf_event_open(raw_syscalls:sys_enter): {}", std::strerror(error));
  const auto paranoid = read_proc_file("/proc/sys/kernel/perf_event_paranoid");
  return fmt::format(
      "counting needs root or CAP_PERFMON, or kernel.perf_event_paranoid of at most 1 (it is {})",
      paranoid ? trimmed(*paranoid) : "unknown");
}

}  // namespace

std::expected<SyscallCounter, std::string> SyscallCounter::attach(pid_t child) {
  const auto number = tracepoint_number();
  if (!number) return std::unexpected(number.error());
  perf_event_attr what{};
  what.type = PERF_TYPE_TRACEPOINT;
  what.size = sizeof what;
  what.config = *number;
  what.disabled = 1;
  what.enable_on_exec = 1;
  what.inherit = 1;  // threads and children too, as they are made
  constexpr int kAnyCpu = -1, kNoGroup = -1;
  Fd event(static_cast<int>(
      ::syscall(SYS_perf_event_open, &what, child, kAnyCpu, kNoGroup, PERF_FLAG_FD_CLOEXEC)));
  if (!event.is_open()) return std::unexpected(why_not_open(errno));
  return SyscallCounter(std::move(event));
}

#else

std::expected<SyscallCounter, std::string> SyscallCounter::attach(pid_t /*child*/) {
  return std::unexpected("system calls are counted by Linux's perf_event_open only");
}

#endif

std::uint64_t SyscallCounter::count() const {
  std::uint64_t total = 0;
  checked(::read(event_.get(), &total, sizeof total), "read(perf event)");
  return total;
}

}  // namespace joust
