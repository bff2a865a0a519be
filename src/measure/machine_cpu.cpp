// SPDX-License-Identifier: MIT
#include "measure/machine_cpu.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>

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

}  // namespace joust
