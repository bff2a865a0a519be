// SPDX-License-Identifier: MIT
#include "measure/machine_cpu.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <sstream>
#include <string>

#include "base/fd.hpp"
#include "base/limits.hpp"
#include "base/system/sockets.hpp"
#include "measure/environment.hpp"
#include "measure/proc_file.hpp"

namespace joust {

namespace {

constexpr std::array kKinds{&MachineCpu::user_s,    &MachineCpu::nice_s,   &MachineCpu::system_s,
                            &MachineCpu::idle_s,    &MachineCpu::iowait_s, &MachineCpu::irq_s,
                            &MachineCpu::softirq_s, &MachineCpu::steal_s};  // in the order of /proc/stat

double fraction(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

std::optional<MachineCpu> cpu_of_line(std::optional<std::string_view> line, double ticks_per_second) {
  if (!line) return std::nullopt;
  std::istringstream numbers{std::string(*line)};
  MachineCpu cpu;
  for (const auto kind : kKinds) {
    numbers >> cpu.*kind;
    cpu.*kind /= ticks_per_second;
  }
  return numbers ? std::optional(cpu) : std::nullopt;
}

}  // namespace

double MachineCpu::total_s() const {
  double total = 0;
  for (const auto kind : kKinds) total += this->*kind;
  return total;
}

double MachineCpu::busy_s() const {
  return user_s + nice_s + system_s + irq_s + softirq_s;
}

double MachineCpu::most_busy_s() const {
  return std::max(busy_s(), clock_s - idle_s - iowait_s - steal_s);
}

double MachineCpu::busy_fraction() const {
  return fraction(busy_s(), total_s());
}
double MachineCpu::softirq_fraction() const {
  return fraction(softirq_s, total_s());
}
double MachineCpu::steal_fraction() const {
  return fraction(steal_s, total_s());
}

MachineCpu operator-(const MachineCpu& later, const MachineCpu& earlier) {
  MachineCpu window;
  // idle and iowait may run backwards (proc(5)): never below zero.
  for (const auto kind : kKinds) window.*kind = std::max(0.0, later.*kind - earlier.*kind);
  window.clock_s = later.clock_s - earlier.clock_s;
  return window;
}

MachineCpu operator+(const MachineCpu& one, const MachineCpu& other) {
  MachineCpu sum;
  for (const auto kind : kKinds) sum.*kind = one.*kind + other.*kind;
  sum.clock_s = one.clock_s + other.clock_s;
  return sum;
}

std::optional<MachineCpu> parse_machine_cpu(std::string_view proc_stat, double ticks_per_second,
                                            std::span<const int> cpus) {
  // The key has a blank, because "cpu0" is one CPU only.
  if (cpus.empty()) return cpu_of_line(field_of(proc_stat, "cpu "), ticks_per_second);
  MachineCpu sum;
  for (const int number : cpus) {
    const auto one = cpu_of_line(field_of(proc_stat, fmt::format("cpu{} ", number)), ticks_per_second);
    if (!one) return std::nullopt;
    sum = sum + *one;
  }
  return sum;
}

std::optional<MachineCpu> read_machine_cpu(std::span<const int> cpus) {
  const auto text = read_proc_file("/proc/stat");
  if (!text) return std::nullopt;
  return parse_machine_cpu(*text, static_cast<double>(::sysconf(_SC_CLK_TCK)), cpus);
}

namespace {

// A part of 10 ms that other programs do not interrupt shows the true share.
constexpr int kParts = 20;
constexpr double kPart_s = 0.0005;

// The least share of a clock that counts everything; readings of the clocks take the rest.
constexpr double kAll = 0.9;

double now_s(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Connects a socket to itself. A datagram is received by the thread that has sent it.
bool connect_to_itself(int socket) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  return ::bind(socket, raw, size) == 0 && ::getsockname(socket, raw, &size) == 0 &&
         ::connect(socket, raw, size) == 0;
}

double share_of_a_part(int socket) {
  const double begun_s = now_s(CLOCK_MONOTONIC), cpu_begun_s = now_s(CLOCK_THREAD_CPUTIME_ID);
  double took_s = 0;
  char byte = 0;
  while ((took_s = now_s(CLOCK_MONOTONIC) - begun_s) < kPart_s) {
    if (::send(socket, &byte, 1, MSG_DONTWAIT) < 0 || ::recv(socket, &byte, 1, MSG_DONTWAIT) < 0) return 0;
  }
  return (now_s(CLOCK_THREAD_CPUTIME_ID) - cpu_begun_s) / took_s;
}

}  // namespace

std::optional<double> counted_share_of_sending() {
  const Fd socket = datagram_socket(AF_INET, 0);
  if (!socket.is_open() || !connect_to_itself(socket.get())) return std::nullopt;
  double greatest = 0;
  for (int part = 0; part < kParts; ++part) greatest = std::max(greatest, share_of_a_part(socket.get()));
  return greatest > 0 ? std::optional(greatest) : std::nullopt;
}

std::string softirq_time(std::optional<double> counted_share) {
  if (!counted_share) return "unknown";
  return *counted_share >= kAll ? kSoftirqInside : kSoftirqApart;
}

namespace {

constexpr std::size_t kMostBytesRead = 16;

}  // namespace

ClockRates operator|(const ClockRates& one, const ClockRates& other) {
  return {.least_mhz = std::min(one.least_mhz, other.least_mhz),
          .most_mhz = std::max(one.most_mhz, other.most_mhz)};
}

std::optional<ClockRates> read_clock_rates(std::span<const int> cpus, const std::string& root) {
  std::optional<ClockRates> rates;
  for (const int cpu : cpus.first(std::min(cpus.size(), kMostBytesRead))) {
    const auto text =
        read_proc_file(fmt::format("{}sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", root, cpu));
    const double mhz = text ? static_cast<double>(leading_number(*text)) / 1e3 : 0;
    if (mhz <= 0) continue;
    const ClockRates one{.least_mhz = mhz, .most_mhz = mhz};
    rates = rates ? *rates | one : one;
  }
  return rates;
}

namespace {

void add_group(std::optional<Throttling>& sum, const std::string& folder) {
  const auto text = read_proc_file(folder + "cpu.stat");
  const auto times = text ? field_of(*text, "nr_throttled ") : std::nullopt;
  if (!times) return;
  if (!sum) sum.emplace();
  sum->times += leading_number(*times);
  if (const auto time_us = field_of(*text, "throttled_usec "))  // version 2
    sum->time_s += static_cast<double>(leading_number(*time_us)) / 1e6;
  else if (const auto time_ns = field_of(*text, "throttled_time "))  // version 1
    sum->time_s += static_cast<double>(leading_number(*time_ns)) / 1e9;
}

}  // namespace

Throttling operator+(const Throttling& one, const Throttling& other) {
  return {.times = one.times + other.times, .time_s = one.time_s + other.time_s};
}

Throttling operator-(const Throttling& later, const Throttling& earlier) {
  return {.times = later.times - std::min(later.times, earlier.times),
          .time_s = std::max(0.0, later.time_s - earlier.time_s)};
}

std::optional<Throttling> read_throttling(const std::string& root) {
  std::optional<Throttling> sum;
  for (const ControlGroup& group : control_groups(root + "proc", root + "sys/fs/cgroup", "cpu"))
    add_group(sum, group.folder);
  return sum;
}

}  // namespace joust
