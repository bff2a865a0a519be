// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "doctor/findings.hpp"

namespace joust::doctor {

Finding judge_build(const Facts& facts) {
  const std::string type(facts.environment.value("build_type"));
  const std::string sanitizers(facts.environment.value("sanitizers"));
  const bool sanitized = sanitizers != "none" && sanitizers != "unknown";
  Finding finding{.subject = "build", .level = Level::good, .found = type};
  if (sanitized) finding.found += fmt::format(", sanitizers {}", sanitizers);
  if (type == "Release" && !sanitized) return finding;
  finding.level = Level::warning;
  finding.effect = sanitized
                       ? "sanitizers slow some engines more than others: no race of this build is ranked"
                       : "code that is not optimized slows joust's own parts more than the kernel's";
  finding.mend = "script/build";
  finding.advice = "then run build/release/joust";
  return finding;
}

Finding judge_io_uring(const Facts& facts) {
  constexpr const char* kName = "kernel.io_uring_disabled";
  const std::string& reason = facts.no_ring;
  Finding finding{.subject = "io_uring", .level = Level::good, .found = "a ring can be made"};
  if (reason.empty()) return finding;
  finding.level = Level::warning;
  finding.found = reason;
  finding.effect = "the engines io-uring and io-uring-pool cannot run, and races leave them out";
  const std::string disabled(facts.environment.value("io_uring_disabled"));
  if (disabled != "unknown" && disabled != "0") {
    finding.mend = fmt::format("sudo sysctl -w {}=0", kName);
    finding.undo = fmt::format("sudo sysctl -w {}={}", kName, disabled);
  } else if (reason.contains("ulimit -l")) {
    finding.mend = "sudo prlimit --pid $$ --memlock=unlimited:unlimited";
    finding.advice = "to undo it, use another shell";
  } else if (reason.contains("liburing")) {
    finding.mend = "script/setup uring && script/build";
    finding.undo = "sudo apt-get remove liburing-dev && script/build";
  } else if (!facts.container.empty() || facts.seccomp != 0) {
    finding.advice = "start the container with --security-opt seccomp=unconfined; to undo it, without";
  } else {
    finding.advice = "it needs Linux 5.19 or newer";
  }
  return finding;
}

Finding judge_seccomp(const Facts& facts) {
  constexpr int kFilter = 2;
  Finding finding{.subject = "seccomp", .level = Level::good, .found = "no filter"};
  if (facts.seccomp != kFilter) return finding;
  finding.level = Level::note;
  finding.found = "a filter";
  finding.effect = "it looks at each system call, so engines that make many look slower than elsewhere";
  finding.advice = facts.container.empty()
                       ? "run joust outside of the service or sandbox that has set it"
                       : "start the container with --security-opt seccomp=unconfined; to undo it, without";
  return finding;
}

Finding judge_call_count(const Facts& facts) {
  constexpr const char* kName = "kernel.perf_event_paranoid";
  const std::string& reason = facts.no_call_count;
  Finding finding{.subject = "tracepoints", .level = Level::good, .found = "system calls can be counted"};
  if (reason.empty()) return finding;
  finding.level = Level::note;
  finding.found = reason;
  finding.effect = "races show no system calls for each message";
  constexpr std::string_view kSetting = "(it is ";
  const std::size_t at = reason.find(kSetting);
  if (reason.contains(kName) && at != std::string::npos) {
    const std::size_t begin = at + kSetting.size();
    finding.mend = fmt::format("sudo sysctl -w {}=1", kName);
    finding.undo =
        fmt::format("sudo sysctl -w {}={}", kName, reason.substr(begin, reason.find(')', begin) - begin));
  } else if (reason.contains("root")) {
    finding.advice = "race as root (sudo)";
  } else {
    finding.advice = "it needs another kernel";
  }
  if (!facts.container.empty())
    finding.advice = "start the container with --cap-add PERFMON --cap-add SYS_ADMIN";
  return finding;
}

}  // namespace joust::doctor
