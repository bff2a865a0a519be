// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "doctor/findings.hpp"
#include "joust/socket_options.hpp"

namespace joust::doctor {
namespace {

std::string number_or_unlimited(std::uint64_t number) {
  return number == UINT64_MAX ? "unlimited" : std::to_string(number);
}

std::string sets(std::string_view name, std::string_view value) {
  return fmt::format(R"(sudo sysctl -w {}="{}")", name, value);
}

}  // namespace

Finding judge_quota(const Facts& facts) {
  Finding finding{.subject = "CPU quota", .level = Level::good, .found = "none"};
  if (!facts.quota) return finding;
  const CpuQuota& quota = *facts.quota;
  finding.found = fmt::format("{:.3g} CPUs", quota.cpus);
  if (facts.throttled && facts.throttled->times > 0)
    finding.found += fmt::format(", reached {}", counted(facts.throttled->times, "time"));
  // Exceeded only in moments in which every CPU works.
  if (quota.cpus >= static_cast<double>(facts.cpus.size())) return finding;
  finding.level = Level::warning;
  finding.effect = "when server and load together use more, the kernel stops both for tens of milliseconds";
  finding.mend = fmt::format("echo {} | sudo tee '{}'", quota.no_limit, quota.file);
  finding.undo = fmt::format("echo '{}' | sudo tee '{}'", quota.value, quota.file);
  if (!facts.container.empty()) finding.advice = "or outside of the container: docker update --cpus 0 NAME";
  return finding;
}

Finding judge_open_files(const Facts& facts) {
  constexpr std::uint64_t kPlenty = 65536, kMend = 1 << 20;
  const OpenFiles& files = facts.files;
  Finding finding{.subject = "open files", .level = Level::good, .found = number_or_unlimited(files.hard)};
  if (files.hard >= kPlenty) return finding;
  finding.level = Level::note;
  finding.effect = fmt::format("a side can have about {} connections at most", grouped(files.hard));
  finding.mend = fmt::format("sudo prlimit --pid $$ --nofile={0}:{0}", kMend);
  finding.undo = fmt::format("sudo prlimit --pid $$ --nofile={}:{}", number_or_unlimited(files.soft),
                             number_or_unlimited(files.hard));
  return finding;
}

Finding judge_local_ports(const Facts& facts) {
  constexpr std::uint64_t kPlenty = 16000;
  constexpr const char* kName = "net.ipv4.ip_local_port_range";
  const LocalPorts& ports = facts.ports;
  Finding finding{.subject = "local ports",
                  .level = Level::good,
                  .found = fmt::format("{} to {}", ports.first, ports.last)};
  if (ports.count() >= kPlenty) return finding;
  finding.level = Level::note;
  finding.effect = fmt::format("loads have {} ports for each address, so many connections need several",
                               grouped(ports.count()));
  finding.mend = sets(kName, "32768 60999");
  finding.undo = sets(kName, fmt::format("{} {}", ports.first, ports.last));
  return finding;
}

Finding judge_time_wait(const Facts& facts) {
  constexpr std::uint64_t kWorthANote = 4;  // a share of the ports: one in so many
  Finding finding{
      .subject = "TIME_WAIT", .level = Level::good, .found = counted(facts.time_wait, "closed connection")};
  if (facts.time_wait < facts.ports.count() / kWorthANote) return finding;
  finding.level = Level::note;
  finding.effect = "each holds a port for a minute: loads that connect anew look longer for a free one";
  finding.mend = "sleep 60";
  return finding;
}

Finding judge_congestion_control(const Facts& facts) {
  constexpr const char* kName = "net.ipv4.tcp_congestion_control";
  const std::string name(facts.environment.value("tcp_congestion_control")), own(SocketOptions{}.congestion);
  Finding finding{.subject = "congestion control", .level = Level::good, .found = name};
  if (name == "unknown") finding.level = Level::unknown;
  if (name == "unknown" || name == own) return finding;
  const bool paces = name.starts_with("bbr");
  const char* const pacing = paces ? ", which sends by a timer" : "";
  if (facts.no_congestion.empty()) {
    finding.level = Level::note;
    finding.effect = fmt::format("joust's engines use {}, servers that a race starts by a command use {}{}",
                                 own, name, pacing);
  } else {
    finding.level = paces ? Level::warning : Level::note;
    finding.effect =
        fmt::format("all contestants use {}{}, and not {}: {}", name, pacing, own, facts.no_congestion);
  }
  finding.mend = sets(kName, own);
  finding.undo = sets(kName, name);
  return finding;
}

}  // namespace joust::doctor
