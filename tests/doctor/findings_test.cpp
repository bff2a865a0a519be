// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "doctor/findings.hpp"

namespace joust::doctor {
namespace {

// A machine on which nothing distorts a race: four cores, bare metal.
Facts quiet_machine() {
  Facts facts;
  facts.environment.items = {{"build_type", "Release", true},   {"sanitizers", "none", true},
                             {"governor", "performance", true}, {"clocksource", "tsc", true},
                             {"intel_no_turbo", "1", false},    {"online_cpus", "0-3", true},
                             {"hypervisor", "none", true},      {"tcp_congestion_control", "cubic", true},
                             {"io_uring_disabled", "0", true},  {"softirq_time", kSoftirqInside, false}};
  for (int cpu = 0; cpu < 4; ++cpu) facts.cpus.push_back({.cpu = cpu, .core = cpu});
  facts.use = {.since_boot = MachineCpu{.idle_s = 1000},
               .waiting = MachineCpu{.user_s = 0.01, .idle_s = 1.99},
               .waiting_s = 0.5,
               .measuring = MachineCpu{.user_s = 1, .idle_s = 7}};
  facts.files = {.soft = 1024, .hard = 1 << 20};
  return facts;
}

// Plants another value of a setting.
Facts with(std::string_view name, std::string_view value) {
  Facts facts = quiet_machine();
  for (Environment::Item& item : facts.environment.items)
    if (item.name == name) item.value = value;
  return facts;
}

Finding about(std::string_view subject, const Facts& facts) {
  const std::vector<Finding> all = findings(facts);
  const auto found = std::ranges::find(all, subject, &Finding::subject);
  EXPECT_NE(found, all.end()) << subject;
  return found == all.end() ? Finding{} : *found;
}

TEST(Findings, AreAllGoodOnAQuietMachine) {
  for (const Finding& finding : findings(quiet_machine())) {
    EXPECT_EQ(finding.level, Level::good) << finding.subject << ": " << finding.found;
    EXPECT_EQ(finding.effect + finding.mend + finding.undo + finding.advice, "") << finding.subject;
  }
}

TEST(Findings, AreUnknownWhereNothingCanBeRead) {
  const std::vector<Finding> all = findings(Facts{});
  std::set<std::string_view> unknown;
  for (const Finding& finding : all)
    if (finding.level == Level::unknown) unknown.insert(finding.subject);
  for (const char* subject : {"governor", "turbo", "clock source", "softirq time", "virtual machine", "steal",
                              "other load", "congestion control"})
    EXPECT_TRUE(unknown.contains(subject)) << subject;
}

TEST(Findings, HaveSubjectsOfTheirOwn) {
  std::set<std::string_view> subjects;
  for (const Finding& finding : findings(quiet_machine()))
    EXPECT_TRUE(subjects.insert(finding.subject).second) << finding.subject;
}

// Whatever is wrong has an effect, and a way out of it.
TEST(Findings, SayWhatIsToBeDone) {
  Facts worst = with("governor", "powersave");
  worst.environment.items[0].value = "Debug";
  worst.cpus = {{.cpu = 0, .core = 0}, {.cpu = 1, .core = 0}};
  worst.quota =
      CpuQuota{.cpus = 1.5, .file = "/sys/fs/cgroup/cpu.max", .value = "150000 100000", .no_limit = "max"};
  worst.use.waiting = MachineCpu{.user_s = 1, .idle_s = 1, .steal_s = 0.1};
  worst.memory = {.swap_used_bytes = 1 << 30, .available_bytes = 1 << 20};
  worst.files = {.soft = 1024, .hard = 4096};
  worst.ports = {.first = 40000, .last = 40999};
  worst.time_wait = 900;
  worst.seccomp = 2;
  worst.no_ring = "io_uring_setup: Operation not permitted";
  worst.no_call_count = "the kernel's list of tracepoints may be read by root only";
  worst.container = "Docker";
  std::size_t wrong = 0;
  for (const Finding& finding : findings(worst)) {
    if (finding.level < Level::note) continue;
    ++wrong;
    EXPECT_NE(finding.effect, "") << finding.subject;
    EXPECT_NE(finding.mend + finding.advice, "") << finding.subject;
  }
  EXPECT_GE(wrong, 14U);
}

TEST(QuotaFinding, IsOneBelowTheCpusOnly) {
  Facts facts = quiet_machine();
  facts.quota =
      CpuQuota{.cpus = 1.5, .file = "/sys/fs/cgroup/a/cpu.max", .value = "150000 100000", .no_limit = "max"};
  facts.throttled = Throttling{.times = 7, .time_s = 0.3};
  const Finding finding = about("CPU quota", facts);
  EXPECT_EQ(finding.level, Level::warning);
  EXPECT_EQ(finding.found, "1.5 CPUs, reached 7 times");
  EXPECT_EQ(finding.mend, "echo max | sudo tee '/sys/fs/cgroup/a/cpu.max'");
  EXPECT_EQ(finding.undo, "echo '150000 100000' | sudo tee '/sys/fs/cgroup/a/cpu.max'");
  facts.quota->cpus = 4;
  EXPECT_EQ(about("CPU quota", facts).level, Level::good);
}

TEST(CoreFindings, ToldCoresFromHardwareThreads) {
  Facts facts = quiet_machine();
  facts.cpus = {{.cpu = 0, .core = 0}, {.cpu = 1, .core = 1}, {.cpu = 2, .core = 0}, {.cpu = 3, .core = 1}};
  EXPECT_EQ(about("cores", facts).level, Level::note);
  EXPECT_EQ(about("cores", facts).found, "2 cores");
  const Finding smt = about("SMT", facts);
  EXPECT_EQ(smt.level, Level::note);
  EXPECT_EQ(smt.found, "4 CPUs on 2 cores");
  EXPECT_EQ(smt.mend, "echo off | sudo tee /sys/devices/system/cpu/smt/control");
  EXPECT_EQ(smt.undo, "echo on | sudo tee /sys/devices/system/cpu/smt/control");
  facts.cpus.resize(1);
  EXPECT_EQ(about("cores", facts).level, Level::warning);
}

TEST(CoreFindings, NameTheCpusThatAreLeftOut) {
  Facts facts = quiet_machine();
  facts.cpus.resize(2);
  const Finding finding = about("allowed CPUs", facts);
  EXPECT_EQ(finding.found, "0-1 of 0-3");
  EXPECT_EQ(finding.mend, "taskset -pc 0-3 $$");
  EXPECT_EQ(finding.undo, "taskset -pc 0-1 $$");
}

TEST(GovernorFinding, UndoesWhatItMends) {
  const Finding one = about("governor", with("governor", "schedutil"));
  EXPECT_EQ(one.level, Level::warning);
  EXPECT_EQ(one.mend, "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor");
  EXPECT_EQ(one.undo, "echo schedutil | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor");
  const Finding several = about("governor", with("governor", "performance+powersave"));
  EXPECT_TRUE(several.mend.starts_with("grep . ")) << "CPUs that differ are written down first";
  EXPECT_TRUE(several.undo.contains("< governors")) << several.undo;
}

TEST(TurboFinding, KnowsBothKindsOfSwitches) {
  EXPECT_EQ(about("turbo", with("intel_no_turbo", "1")).level, Level::good);
  const Finding intel = about("turbo", with("intel_no_turbo", "0"));
  EXPECT_EQ(intel.level, Level::note);
  EXPECT_EQ(intel.mend, "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo");
  EXPECT_EQ(intel.undo, "echo 0 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo");
  Facts other = with("intel_no_turbo", "unknown");
  EXPECT_EQ(about("turbo", other).level, Level::unknown);
  other.environment.items.push_back({"cpu_boost", "1", false});
  EXPECT_EQ(about("turbo", other).mend, "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost");
}

TEST(ClockSourceFinding, OffersWhatTheKernelHas) {
  Facts facts = with("clocksource", "hpet");
  EXPECT_EQ(about("clock source", facts).level, Level::warning);
  EXPECT_EQ(about("clock source", facts).mend, "") << "the kernel has no other";
  facts.clock_sources = "hpet kvm-clock acpi_pm";
  const Finding finding = about("clock source", facts);
  EXPECT_TRUE(finding.mend.starts_with("echo kvm-clock | sudo tee ")) << finding.mend;
  EXPECT_TRUE(finding.undo.starts_with("echo hpet | sudo tee ")) << finding.undo;
}

TEST(SoftirqFinding, WarnsWhereTheyAreApart) {
  EXPECT_EQ(about("softirq time", with("softirq_time", kSoftirqApart)).level, Level::warning);
}

TEST(StealFinding, IsTheGreaterOfBothMoments) {
  Facts facts = quiet_machine();
  facts.use.measuring = MachineCpu{.user_s = 0.95, .steal_s = 0.05};
  const Finding finding = about("steal", facts);
  EXPECT_EQ(finding.level, Level::warning);
  EXPECT_EQ(finding.found, "5.0 % now, 0.0 % since boot");
}

TEST(OtherLoadFinding, NamesProgramsAndStopsNoneOfTheKernel) {
  Facts facts = quiet_machine();
  facts.use.waiting = MachineCpu{.user_s = 0.4, .idle_s = 1.6};
  facts.use.busy = {{.process = 20, .name = "kworker/0:1", .cpus = 0.5, .of_kernel = true},
                    {.process = 4711, .name = "cc1\x1bplus", .cpus = 0.3}};
  const Finding finding = about("other load", facts);
  EXPECT_EQ(finding.level, Level::warning);
  EXPECT_EQ(finding.found, "0.80 CPUs: kworker/0:1 (20) 0.50, cc1\\x1bplus (4711) 0.30");
  EXPECT_EQ(finding.mend, "kill -STOP 4711");
  EXPECT_EQ(finding.undo, "kill -CONT 4711");
  facts.use.busy.pop_back();
  EXPECT_EQ(about("other load", facts).mend, "");
}

TEST(SwapFinding, EmptiesSwapOnlyWhereThereIsRoom) {
  Facts facts = quiet_machine();
  facts.memory = {.swap_used_bytes = 1 << 20, .available_bytes = 1 << 30};
  EXPECT_EQ(about("swap", facts).level, Level::good) << "a few pages of programs that sleep";
  facts.memory.swap_used_bytes = 512 << 20;
  EXPECT_EQ(about("swap", facts).mend, "sudo swapoff -a");
  EXPECT_EQ(about("swap", facts).undo, "sudo swapon -a");
  facts.memory.available_bytes = 100 << 20;
  EXPECT_EQ(about("swap", facts).level, Level::note);
  EXPECT_EQ(about("swap", facts).mend, "");
}

TEST(IoUringFinding, NamesTheCause) {
  Facts facts = with("io_uring_disabled", "2");
  EXPECT_EQ(about("io_uring", facts).level, Level::good) << "root may have a ring all the same";
  facts.no_ring = "io_uring_setup: Operation not permitted (sysctl kernel.io_uring_disabled is 2)";
  const Finding disabled = about("io_uring", facts);
  EXPECT_EQ(disabled.level, Level::warning);
  EXPECT_EQ(disabled.found, facts.no_ring);
  EXPECT_EQ(disabled.mend, "sudo sysctl -w kernel.io_uring_disabled=0");
  EXPECT_EQ(disabled.undo, "sudo sysctl -w kernel.io_uring_disabled=2");
  Facts contained = quiet_machine();
  contained.container = "Docker";
  contained.no_ring = "io_uring_setup: Operation not permitted";
  EXPECT_TRUE(about("io_uring", contained).advice.contains("seccomp=unconfined"));
  Facts locked = quiet_machine();
  locked.no_ring =
      "a ring locks about 64 KiB of memory, and all rings of this user may lock 8 KiB (ulimit -l)";
  EXPECT_TRUE(about("io_uring", locked).mend.contains("--memlock"));
  Facts built = quiet_machine();
  built.no_ring = "liburing not found at build time: script/setup uring && script/build";
  EXPECT_EQ(about("io_uring", built).mend, "script/setup uring && script/build");
}

TEST(SeccompFinding, IsAFilterOnly) {
  Facts facts = quiet_machine();
  facts.seccomp = 2;
  EXPECT_EQ(about("seccomp", facts).level, Level::note);
}

TEST(CallCountFinding, PutsTheSettingBack) {
  Facts facts = quiet_machine();
  facts.no_call_count =
      "counting needs root or CAP_PERFMON, or kernel.perf_event_paranoid of at most 1 (it is 3)";
  const Finding finding = about("tracepoints", facts);
  EXPECT_EQ(finding.mend, "sudo sysctl -w kernel.perf_event_paranoid=1");
  EXPECT_EQ(finding.undo, "sudo sysctl -w kernel.perf_event_paranoid=3");
}

TEST(BuildFinding, WarnsOfWhatIsSlow) {
  EXPECT_EQ(about("build", with("build_type", "Debug")).level, Level::warning);
  const Finding sanitized = about("build", with("sanitizers", "address,undefined"));
  EXPECT_EQ(sanitized.level, Level::warning);
  EXPECT_EQ(sanitized.found, "Release, sanitizers address,undefined");
}

TEST(OpenFilesFinding, CountsTheHardLimit) {
  Facts facts = quiet_machine();
  facts.files = {.soft = 1024, .hard = 4096};
  const Finding finding = about("open files", facts);
  EXPECT_EQ(finding.level, Level::note);
  EXPECT_EQ(finding.undo, "sudo prlimit --pid $$ --nofile=1024:4096");
  facts.files.hard = UINT64_MAX;
  EXPECT_EQ(about("open files", facts).found, "unlimited");
}

TEST(PortFindings, CompareTimeWaitWithTheRange) {
  Facts facts = quiet_machine();
  facts.ports = {.first = 40000, .last = 40999};
  EXPECT_EQ(about("local ports", facts).level, Level::note);
  EXPECT_EQ(about("local ports", facts).undo, "sudo sysctl -w net.ipv4.ip_local_port_range=\"40000 40999\"");
  facts.time_wait = 249;
  EXPECT_EQ(about("TIME_WAIT", facts).level, Level::good);
  facts.time_wait = 250;
  EXPECT_EQ(about("TIME_WAIT", facts).level, Level::note);
}

TEST(CongestionFinding, WarnsWhereJoustsOwnIsRefused) {
  Facts facts = with("tcp_congestion_control", "bbr");
  const Finding commands = about("congestion control", facts);
  EXPECT_EQ(commands.level, Level::note);
  EXPECT_TRUE(commands.effect.contains("by a command use bbr, which sends by a timer")) << commands.effect;
  EXPECT_EQ(commands.mend, "sudo sysctl -w net.ipv4.tcp_congestion_control=\"cubic\"");
  EXPECT_EQ(commands.undo, "sudo sysctl -w net.ipv4.tcp_congestion_control=\"bbr\"");
  facts.no_congestion = "only privileged users may have it here";
  EXPECT_EQ(about("congestion control", facts).level, Level::warning);
  EXPECT_TRUE(about("congestion control", facts).effect.contains(facts.no_congestion));
}

TEST(HostFindings, NameHypervisorAndContainer) {
  EXPECT_EQ(about("virtual machine", with("hypervisor", "KVMKVMKVM")).level, Level::note);
  Facts facts = quiet_machine();
  facts.container = "Kubernetes";
  EXPECT_EQ(about("container", facts).level, Level::note);
  EXPECT_EQ(about("container", facts).found, "Kubernetes");
}

}  // namespace
}  // namespace joust::doctor
